<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en_US">
<context>
    <name>chat_words</name>
    <message numerus="yes">
        <source>%Ln messages were deleted.</source>
        <translation>
            <numerusform>%Ln message was deleted.</numerusform>
            <numerusform>%Ln messages were deleted.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>This chat is longer than the model can hold: the %Ln oldest messages were not read for the last answer.</source>
        <translation>
            <numerusform>This chat is longer than the model can hold: the oldest message was not read for the last answer.</numerusform>
            <numerusform>This chat is longer than the model can hold: the %Ln oldest messages were not read for the last answer.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>cost_line</name>
    <message numerus="yes">
        <source>This edit recomputes %Ln tokens</source>
        <translation>
            <numerusform>This edit recomputes %Ln token</numerusform>
            <numerusform>This edit recomputes %Ln tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>This edit recomputes about %Ln tokens</source>
        <translation>
            <numerusform>This edit recomputes about %Ln token</numerusform>
            <numerusform>This edit recomputes about %Ln tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>memory_values</name>
    <message numerus="yes">
        <source>About %Ln turns are left in this context</source>
        <translation>
            <numerusform>About %Ln turn is left in this context</numerusform>
            <numerusform>About %Ln turns are left in this context</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>recover</name>
    <message numerus="yes">
        <source>%Ln chats</source>
        <translation>
            <numerusform>%Ln chat</numerusform>
            <numerusform>%Ln chats</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln messages</source>
        <translation>
            <numerusform>%Ln message</numerusform>
            <numerusform>%Ln messages</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>at least %Ln messages are lost</source>
        <translation>
            <numerusform>at least %Ln message is lost</numerusform>
            <numerusform>at least %Ln messages are lost</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>strip</name>
    <message numerus="yes">
        <source>%Ln stalls</source>
        <translation>
            <numerusform>%Ln stall</numerusform>
            <numerusform>%Ln stalls</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Time per token: %Ln tokens</source>
        <translation>
            <numerusform>Time per token: %Ln token</numerusform>
            <numerusform>Time per token: %Ln tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>transfer</name>
    <message numerus="yes">
        <source>%Ln already here.</source>
        <translation>
            <numerusform>%Ln already here.</numerusform>
            <numerusform>%Ln already here.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln chats exported to {file}.</source>
        <translation>
            <numerusform>%Ln chat exported to {file}.</numerusform>
            <numerusform>%Ln chats exported to {file}.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln chats imported.</source>
        <translation>
            <numerusform>%Ln chat imported.</numerusform>
            <numerusform>%Ln chats imported.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln could not be read.</source>
        <translation>
            <numerusform>%Ln could not be read.</numerusform>
            <numerusform>%Ln could not be read.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>turn_figures</name>
    <message numerus="yes">
        <source>Answer: {tokens} tokens in {seconds}</source>
        <translation>
            <numerusform>Answer: {tokens} token in {seconds}</numerusform>
            <numerusform>Answer: {tokens} tokens in {seconds}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Decode: {tokens} tokens in {seconds}</source>
        <translation>
            <numerusform>Decode: {tokens} token in {seconds}</numerusform>
            <numerusform>Decode: {tokens} tokens in {seconds}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Prefill: {tokens} tokens in {seconds}</source>
        <translation>
            <numerusform>Prefill: {tokens} token in {seconds}</numerusform>
            <numerusform>Prefill: {tokens} tokens in {seconds}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{cached} reused + {new} new tokens</source>
        <translation>
            <numerusform>{cached} reused + {new} new token</numerusform>
            <numerusform>{cached} reused + {new} new tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>turn_page</name>
    <message numerus="yes">
        <source>%Ln tokens</source>
        <translation>
            <numerusform>%Ln token</numerusform>
            <numerusform>%Ln tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>turn_values</name>
    <message numerus="yes">
        <source>%Ln tokens were computed again</source>
        <translation>
            <numerusform>%Ln token was computed again</numerusform>
            <numerusform>%Ln tokens were computed again</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln tokens, left out</source>
        <translation>
            <numerusform>%Ln token, left out</numerusform>
            <numerusform>%Ln tokens, left out</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Decode, %Ln tokens</source>
        <translation>
            <numerusform>Decode, %Ln token</numerusform>
            <numerusform>Decode, %Ln tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Prefill, %Ln tokens</source>
        <translation>
            <numerusform>Prefill, %Ln token</numerusform>
            <numerusform>Prefill, %Ln tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>and %Ln more stalls</source>
        <translation>
            <numerusform>and %Ln more stall</numerusform>
            <numerusform>and %Ln more stalls</numerusform>
        </translation>
    </message>
</context>
</TS>
