<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en_US">
<context>
    <name>chat_words</name>
    <message numerus="yes">
        <source>%n messages were deleted.</source>
        <translation>
            <numerusform>%n message was deleted.</numerusform>
            <numerusform>%n messages were deleted.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>This conversation is longer than the model can hold: the %n oldest messages were not read for the last answer.</source>
        <translation>
            <numerusform>This conversation is longer than the model can hold: the oldest message was not read for the last answer.</numerusform>
            <numerusform>This conversation is longer than the model can hold: the %n oldest messages were not read for the last answer.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>cost_line</name>
    <message numerus="yes">
        <source>This edit recomputes %n tokens</source>
        <translation>
            <numerusform>This edit recomputes %n token</numerusform>
            <numerusform>This edit recomputes %n tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>memory_values</name>
    <message numerus="yes">
        <source>About %n turns are left in this context</source>
        <translation>
            <numerusform>About %n turn is left in this context</numerusform>
            <numerusform>About %n turns are left in this context</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>store</name>
    <message numerus="yes">
        <source>The saved conversations were damaged: %n could be read and are here. The damaged file was kept as {file}.</source>
        <translation>
            <numerusform>The saved conversations were damaged: %n could be read and is here. The damaged file was kept as {file}.</numerusform>
            <numerusform>The saved conversations were damaged: %n could be read and are here. The damaged file was kept as {file}.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>strip</name>
    <message numerus="yes">
        <source>%n stalls</source>
        <translation>
            <numerusform>%n stall</numerusform>
            <numerusform>%n stalls</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Time per token: %n tokens</source>
        <translation>
            <numerusform>Time per token: %n token</numerusform>
            <numerusform>Time per token: %n tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>transfer</name>
    <message numerus="yes">
        <source>%n already here.</source>
        <translation>
            <numerusform>%n already here.</numerusform>
            <numerusform>%n already here.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n conversations exported to {file}.</source>
        <translation>
            <numerusform>%n conversation exported to {file}.</numerusform>
            <numerusform>%n conversations exported to {file}.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n conversations imported.</source>
        <translation>
            <numerusform>%n conversation imported.</numerusform>
            <numerusform>%n conversations imported.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n could not be read.</source>
        <translation>
            <numerusform>%n could not be read.</numerusform>
            <numerusform>%n could not be read.</numerusform>
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
        <source>%n tokens</source>
        <translation>
            <numerusform>%n token</numerusform>
            <numerusform>%n tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>turn_values</name>
    <message numerus="yes">
        <source>%n tokens were computed again</source>
        <translation>
            <numerusform>%n token was computed again</numerusform>
            <numerusform>%n tokens were computed again</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n tokens, left out</source>
        <translation>
            <numerusform>%n token, left out</numerusform>
            <numerusform>%n tokens, left out</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Decode, %n tokens</source>
        <translation>
            <numerusform>Decode, %n token</numerusform>
            <numerusform>Decode, %n tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Prefill, %n tokens</source>
        <translation>
            <numerusform>Prefill, %n token</numerusform>
            <numerusform>Prefill, %n tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>and %n more stalls</source>
        <translation>
            <numerusform>and %n more stall</numerusform>
            <numerusform>and %n more stalls</numerusform>
        </translation>
    </message>
</context>
</TS>
