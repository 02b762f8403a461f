<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN">
<context>
    <name>actions</name>
    <message>
        <source>Answer the last question once more</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check that reuse changes no answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete this chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Jump to the latest message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loquat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Messages</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Quit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show or fold the sidebar</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop the answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use a model file…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use a model folder…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>View</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>archive_page</name>
    <message>
        <source>Archived chats</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Back to all chats (Esc)</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>attachments</name>
    <message>
        <source>Pasted text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This model reads text only.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} cannot be read: {reason}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} is a PDF. Loquat reads text files; copy its text and paste it here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} is a folder. Please choose the files in it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} is empty.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} is not a file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} is not a text file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} is too large: at most 5 MB can be attached.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>conversation_delegate</name>
    <message>
        <source>New name</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>conversation_menu</name>
    <message>
        <source>Archive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete the folder, keep its chats</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fold</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Move to folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New folder…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Out of the folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pin</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Put back into the list</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rename</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Unfold</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>conversation_model</name>
    <message>
        <source>Archived chats: {count}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folder {name}, chats: {count}, {state}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>folded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>open</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{title}, an answer is being written</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{title}, {when}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>conversation_rows</name>
    <message>
        <source>Archived</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folders</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>engine</name>
    <message>
        <source>, keys and values in {0}</source>
        <translation>，键和值为 {0}</translation>
    </message>
    <message>
        <source>, token by token</source>
        <translation>，逐个词元</translation>
    </message>
    <message>
        <source>16-bit weights</source>
        <translation>16 位权重</translation>
    </message>
    <message>
        <source>16-bit weights: half the bytes of 32</source>
        <translation>16 位权重：字节数是 32 位的一半</translation>
    </message>
    <message>
        <source>16-bit weights: the precision of training</source>
        <translation>16 位权重：与训练精度相同</translation>
    </message>
    <message>
        <source>32-bit weights</source>
        <translation>32 位权重</translation>
    </message>
    <message>
        <source>4-bit weights</source>
        <translation>4 位权重</translation>
    </message>
    <message>
        <source>4-bit weights (NF4)</source>
        <translation>4 位权重（NF4）</translation>
    </message>
    <message>
        <source>4-bit weights: fewest bytes to read per token</source>
        <translation>4 位权重：每个词元读取的字节最少</translation>
    </message>
    <message>
        <source>8-bit weights</source>
        <translation>8 位权重</translation>
    </message>
    <message>
        <source>; at most {0} tokens, where its position embedding changes</source>
        <translation>；最多 {0} 个词元，之后位置编码会改变</translation>
    </message>
    <message>
        <source>A model named {0} exists already; choose another name or remove it first.</source>
        <translation>已有名为 {0} 的模型；请换一个名称，或先移除它。</translation>
    </message>
    <message>
        <source>A saved cache does not fit its tokens.</source>
        <translation>保存的缓存与其词元不符。</translation>
    </message>
    <message>
        <source>A saved cache does not fit this model.</source>
        <translation>保存的缓存与此模型不符。</translation>
    </message>
    <message>
        <source>A saved conversation cache does not fit this model and is not used.</source>
        <translation>保存的对话缓存与此模型不符，不会使用。</translation>
    </message>
    <message>
        <source>Another Loquat uses the folder of saved caches; this one keeps its caches in memory only.</source>
        <translation>另一个 Loquat 正在使用缓存文件夹；此程序只在内存中保留缓存。</translation>
    </message>
    <message>
        <source>Apple GPU</source>
        <translation>Apple GPU</translation>
    </message>
    <message>
        <source>Caches cannot be saved in {0} ({1}); they are kept in memory only.</source>
        <translation>无法在 {0} 中保存缓存（{1}）；缓存只保留在内存中。</translation>
    </message>
    <message>
        <source>Keeping the file</source>
        <translation>正在保存文件</translation>
    </message>
    <message>
        <source>Looking for {0}</source>
        <translation>正在查找 {0}</translation>
    </message>
    <message>
        <source>Loquat could not {0} in {1} ({2}).</source>
        <translation>Loquat 无法在 {1} 中{0}（{2}）。</translation>
    </message>
    <message>
        <source>MLP size</source>
        <translation>MLP 大小</translation>
    </message>
    <message>
        <source>Memory ran out; the caches of all chats were freed, so asking again may work.</source>
        <translation>内存已用尽；所有对话的缓存都已释放，再问一次也许可行。</translation>
    </message>
    <message>
        <source>No model is loaded; choose one first.</source>
        <translation>尚未加载模型；请先选择一个。</translation>
    </message>
    <message>
        <source>Packing {0} for this processor</source>
        <translation>正在为此处理器打包 {0}</translation>
    </message>
    <message>
        <source>Something went wrong inside Loquat; the conversation is saved, and asking again may work.</source>
        <translation>Loquat 内部出错；对话已保存，再问一次也许可行。</translation>
    </message>
    <message>
        <source>The CPU kernels do not compute this model&apos;s activation, the exact GELU.</source>
        <translation>CPU 内核不支持此模型的激活函数（精确 GELU）。</translation>
    </message>
    <message>
        <source>The CPU kernels need a {0} that {1} divides, and this model has {2}.</source>
        <translation>CPU 内核要求{0}能被 {1} 整除，而此模型是 {2}。</translation>
    </message>
    <message>
        <source>The added tokens of {0} cannot be read; get it again.</source>
        <translation>无法读取 {0} 的附加词元；请重新获取。</translation>
    </message>
    <message>
        <source>The added tokens of {0} contradict its tokenizer; get it again.</source>
        <translation>{0} 的附加词元与其分词器矛盾；请重新获取。</translation>
    </message>
    <message>
        <source>The conversation has become longer than the {0} tokens this model can read.</source>
        <translation>对话已超过此模型能读取的 {0} 个词元。</translation>
    </message>
    <message>
        <source>The conversation is longer than the {0} tokens this model can read.</source>
        <translation>对话超过了此模型能读取的 {0} 个词元。</translation>
    </message>
    <message>
        <source>The disk is too full to {0}: it needs {1} in {2}, and {3} are free.</source>
        <translation>磁盘空间不足，无法{0}：{2} 中需要 {1}，只剩 {3}。</translation>
    </message>
    <message>
        <source>Checking {0}: {1} %</source>
        <translation>正在检查 {0}：{1} %</translation>
    </message>
    <message>
        <source>Copying {0}: {1} %</source>
        <translation>正在复制 {0}：{1} %</translation>
    </message>
    <message>
        <source>Importing {0}: {1} %</source>
        <translation>正在导入 {0}：{1} %</translation>
    </message>
    <message>
        <source>Reading {0}</source>
        <translation>正在读取 {0}</translation>
    </message>
    <message>
        <source>The disk became full during the download; free some space and try again.</source>
        <translation>下载时磁盘已满；请腾出空间后重试。</translation>
    </message>
    <message>
        <source>The download broke off.</source>
        <translation>下载中断了。</translation>
    </message>
    <message>
        <source>The download of {0} arrived damaged.</source>
        <translation>下载的 {0} 已损坏。</translation>
    </message>
    <message>
        <source>The download of {0} failed twice; try again later.</source>
        <translation>{0} 下载两次都失败；请稍后重试。</translation>
    </message>
    <message>
        <source>The fast decoder does not compute attention in both directions.</source>
        <translation>快速解码器不支持双向注意力。</translation>
    </message>
    <message>
        <source>The fast decoder does not know the activation {0}.</source>
        <translation>快速解码器不支持激活函数 {0}。</translation>
    </message>
    <message>
        <source>The fast decoder does not know the architecture &quot;{0}&quot;.</source>
        <translation>快速解码器不支持架构“{0}”。</translation>
    </message>
    <message>
        <source>The fast decoder does not know this model&apos;s kinds of layers.</source>
        <translation>快速解码器不支持此模型的层类型。</translation>
    </message>
    <message>
        <source>The fast decoder does not read weights quantised this way.</source>
        <translation>快速解码器不支持这种量化方式的权重。</translation>
    </message>
    <message>
        <source>The file {0} contradicts itself (the number of layers); get it again.</source>
        <translation>文件 {0} 自相矛盾（层数）；请重新获取。</translation>
    </message>
    <message>
        <source>The file {0} contradicts itself (the shape of {1}); get it again.</source>
        <translation>文件 {0} 自相矛盾（{1} 的形状）；请重新获取。</translation>
    </message>
    <message>
        <source>The file {0} does not describe its model completely ({1}); get it again.</source>
        <translation>文件 {0} 对模型的描述不完整（{1}）；请重新获取。</translation>
    </message>
    <message>
        <source>The file {0} holds no tokenizer; get one that does.</source>
        <translation>文件 {0} 不含分词器；请获取含分词器的文件。</translation>
    </message>
    <message>
        <source>The file {0} in {1} cannot be read; get it again.</source>
        <translation>无法读取 {1} 中的文件 {0}；请重新获取。</translation>
    </message>
    <message>
        <source>The file {0} is a Python pickle, which can run any program when it is loaded; get the model as safetensors or GGUF.</source>
        <translation>文件 {0} 是 Python pickle，加载时可能运行任意程序；请获取 safetensors 或 GGUF 格式的模型。</translation>
    </message>
    <message>
        <source>The file {0} is damaged or incomplete ({1}); get it again.</source>
        <translation>文件 {0} 已损坏或不完整（{1}）；请重新获取。</translation>
    </message>
    <message>
        <source>The file {0} is no GGUF model; give a GGUF file, or the folder that holds the safetensors.</source>
        <translation>文件 {0} 不是 GGUF 模型；请选择 GGUF 文件，或含 safetensors 的文件夹。</translation>
    </message>
    <message>
        <source>The file {0} is packed in a way that Loquat does not know (type {1}).</source>
        <translation>文件 {0} 的打包方式 Loquat 不认识（类型 {1}）。</translation>
    </message>
    <message>
        <source>The file {0} is {1}; Loquat reads little-endian versions 2 and 3.</source>
        <translation>文件 {0} 是{1}；Loquat 读取小端序的第 2 和第 3 版。</translation>
    </message>
    <message>
        <source>The file {0} lacks a part of its model ({1}); get it again.</source>
        <translation>文件 {0} 缺少模型的一部分（{1}）；请重新获取。</translation>
    </message>
    <message>
        <source>The folder of saved caches is closed.</source>
        <translation>缓存文件夹已关闭。</translation>
    </message>
    <message>
        <source>The folder {0} holds no tokenizer ({1} or {2}).</source>
        <translation>文件夹 {0} 中没有分词器（{1} 或 {2}）。</translation>
    </message>
    <message>
        <source>The folder {0} holds no {1}, so it is no model that Loquat can read.</source>
        <translation>文件夹 {0} 中没有 {1}，因此不是 Loquat 能读取的模型。</translation>
    </message>
    <message>
        <source>The folder {0} holds no {1}, so its weights are missing.</source>
        <translation>文件夹 {0} 中没有 {1}，缺少权重。</translation>
    </message>
    <message>
        <source>The folder {0} lacks a part of its weights ({1}); get it again.</source>
        <translation>文件夹 {0} 缺少部分权重（{1}）；请重新获取。</translation>
    </message>
    <message>
        <source>The model in {0} has a part that is not supported ({1}).</source>
        <translation>{0} 中的模型有不支持的部分（{1}）。</translation>
    </message>
    <message>
        <source>The model in {0} has a tokenizer that is not supported ({1}).</source>
        <translation>{0} 中的模型使用不支持的分词器（{1}）。</translation>
    </message>
    <message>
        <source>The model in {0} is a mixture of experts, which is not supported.</source>
        <translation>{0} 中的模型是混合专家模型，暂不支持。</translation>
    </message>
    <message>
        <source>The model in {0} is of the architecture {1}, which is not supported; supported are {2}.</source>
        <translation>{0} 中的模型架构为 {1}，暂不支持；支持的有 {2}。</translation>
    </message>
    <message>
        <source>The model in {0} is packed as {1}, which is not supported.</source>
        <translation>{0} 中的模型以 {1} 打包，暂不支持。</translation>
    </message>
    <message>
        <source>The model in {0} scales its positions in a way that is not supported ({1}).</source>
        <translation>{0} 中的模型以不支持的方式缩放位置（{1}）。</translation>
    </message>
    <message>
        <source>The model in {0} scales its positions in a way that is not supported.</source>
        <translation>{0} 中的模型以不支持的方式缩放位置。</translation>
    </message>
    <message>
        <source>The model lacks a part of its weights; get the model again.</source>
        <translation>模型缺少部分权重；请重新获取模型。</translation>
    </message>
    <message>
        <source>The model lacks a readable {0}; get the model again.</source>
        <translation>模型缺少可读取的 {0}；请重新获取模型。</translation>
    </message>
    <message>
        <source>The model {0} cannot be read; remove it and add it again.</source>
        <translation>无法读取模型 {0}；请移除后重新添加。</translation>
    </message>
    <message>
        <source>The model {0} has a chat template that cannot be read; choose another model.</source>
        <translation>模型 {0} 的对话模板无法读取；请选择其他模型。</translation>
    </message>
    <message>
        <source>The model {0} has an architecture that is not supported.</source>
        <translation>模型 {0} 的架构暂不支持。</translation>
    </message>
    <message>
        <source>The model {0} has no readable tokenizer; remove it and add it again.</source>
        <translation>模型 {0} 没有可读取的分词器；请移除后重新添加。</translation>
    </message>
    <message>
        <source>The model {0} is of the architecture {1}, which cannot be read from it.</source>
        <translation>模型 {0} 的架构为 {1}，无法从中读取。</translation>
    </message>
    <message>
        <source>The model {0} is of the architecture {1}, which is not supported.</source>
        <translation>模型 {0} 的架构为 {1}，暂不支持。</translation>
    </message>
    <message>
        <source>The model {0} is quantised in a way that is not supported; get the unquantised one, or a GGUF.</source>
        <translation>模型 {0} 的量化方式暂不支持；请获取未量化的版本或 GGUF。</translation>
    </message>
    <message>
        <source>The model {0} lacks some of its weights; remove it and add it again.</source>
        <translation>模型 {0} 缺少部分权重；请移除后重新添加。</translation>
    </message>
    <message>
        <source>The model {0} needs code of its own, which Loquat does not run.</source>
        <translation>模型 {0} 需要运行自带代码，Loquat 不会运行。</translation>
    </message>
    <message>
        <source>The model&apos;s chat template refuses this conversation: {0}.</source>
        <translation>模型的对话模板拒绝了此对话：{0}。</translation>
    </message>
    <message>
        <source>The model&apos;s config.json is incomplete or damaged; get the model again.</source>
        <translation>模型的 config.json 不完整或已损坏；请重新获取模型。</translation>
    </message>
    <message>
        <source>The model&apos;s config.json lacks a part of its position embedding; get the model again.</source>
        <translation>模型的 config.json 缺少部分位置编码；请重新获取模型。</translation>
    </message>
    <message>
        <source>The model&apos;s file {0} is missing or damaged; get the model again.</source>
        <translation>模型文件 {0} 缺失或已损坏；请重新获取模型。</translation>
    </message>
    <message>
        <source>The model&apos;s weights are damaged ({0}); get the file again.</source>
        <translation>模型的权重已损坏（{0}）；请重新获取文件。</translation>
    </message>
    <message>
        <source>The model&apos;s weights do not fit its config.json; get the model again.</source>
        <translation>模型的权重与其 config.json 不符；请重新获取模型。</translation>
    </message>
    <message>
        <source>The model&apos;s weights hold values that are no numbers, or it computes some in this format; get the model again or choose another format.</source>
        <translation>模型的权重中有非数值，或在此格式下算出了非数值；请重新获取模型或选择其他格式。</translation>
    </message>
    <message>
        <source>The model&apos;s {0} is damaged; get the model again.</source>
        <translation>模型的 {0} 已损坏；请重新获取模型。</translation>
    </message>
    <message>
        <source>The package index does not offer the model; check pip&apos;s settings (index, proxy), or try again later.</source>
        <translation>软件包索引没有提供该模型；请检查 pip 的设置（索引、代理），或稍后重试。</translation>
    </message>
    <message>
        <source>There is no connection to the package index; check the network and try again.</source>
        <translation>无法连接软件包索引；请检查网络后重试。</translation>
    </message>
    <message>
        <source>Verifying {0}: {1} %</source>
        <translation>正在校验 {0}：{1} %</translation>
    </message>
    <message>
        <source>all that other programs leave free</source>
        <translation>其他程序剩下的全部内存</translation>
    </message>
    <message>
        <source>all that other programs leave free but {0}</source>
        <translation>其他程序剩下的全部内存，保留 {0}</translation>
    </message>
    <message>
        <source>download {0}</source>
        <translation>下载 {0}</translation>
    </message>
    <message>
        <source>import {0}</source>
        <translation>导入 {0}</translation>
    </message>
    <message>
        <source>remove {0}</source>
        <translation>移除 {0}</translation>
    </message>
    <message>
        <source>The packed weights in {0} cannot be used.</source>
        <translation>{0} 中打包的权重无法使用。</translation>
    </message>
    <message>
        <source>Downloading {0}: {1}</source>
        <translation>正在下载 {0}：{1}</translation>
    </message>
    <message>
        <source>Downloading {0}: {1} of {2}</source>
        <translation>正在下载 {0}：{1} / {2}</translation>
    </message>
    <message>
        <source>Loading {0}</source>
        <translation>正在加载 {0}</translation>
    </message>
    <message>
        <source>Loading {0}. The first time, its code is compiled for this processor: up to a minute</source>
        <translation>正在加载 {0}。首次加载时要为此处理器编译代码，最多一分钟</translation>
    </message>
    <message>
        <source>The JSON schema cannot be used: {0}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The disk is full: there was no room to {0} in {1}; free some space and try again.</source>
        <translation>磁盘已满：{1} 中没有空间来{0}；请腾出空间后重试。</translation>
    </message>
    <message>
        <source>The question is empty; write something first.</source>
        <translation>问题是空的；请先写点什么。</translation>
    </message>
    <message>
        <source>The reply cannot be held to this JSON schema any longer; ask with a simpler one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The sizes in the config.json of {0} make no sense; get the model again.</source>
        <translation>{0} 的 config.json 中的大小不合理；请重新获取模型。</translation>
    </message>
    <message>
        <source>The sizes in the model&apos;s config.json do not fit together; get the model again.</source>
        <translation>模型的 config.json 中的大小互相不符；请重新获取模型。</translation>
    </message>
    <message>
        <source>The text holds tokens that this model does not know.</source>
        <translation>文本中有此模型不认识的词元。</translation>
    </message>
    <message>
        <source>The tokenizer and the weights in {0} do not belong together; get the folder again.</source>
        <translation>{0} 中的分词器与权重不配套；请重新获取该文件夹。</translation>
    </message>
    <message>
        <source>The tokenizer in {0} contradicts itself; get the file again.</source>
        <translation>{0} 中的分词器自相矛盾；请重新获取文件。</translation>
    </message>
    <message>
        <source>The tokenizer in {0} holds a token twice; get the file again.</source>
        <translation>{0} 中的分词器有重复词元；请重新获取文件。</translation>
    </message>
    <message>
        <source>The tokenizer in {0} is damaged; get the file again.</source>
        <translation>{0} 中的分词器已损坏；请重新获取文件。</translation>
    </message>
    <message>
        <source>The tokenizer of {0} needs code of its own, which Loquat does not run.</source>
        <translation>{0} 的分词器需要运行自带代码，Loquat 不会运行。</translation>
    </message>
    <message>
        <source>The tokenizer {0} cannot be read; get it again.</source>
        <translation>无法读取分词器 {0}；请重新获取。</translation>
    </message>
    <message>
        <source>The tokenizer {0} is of a kind that is not supported; get the model with a tokenizer.json.</source>
        <translation>分词器 {0} 的类型暂不支持；请获取带 tokenizer.json 的模型。</translation>
    </message>
    <message>
        <source>The weights in {0} are incomplete ({1} is missing); get them again.</source>
        <translation>{0} 中的权重不完整（缺少 {1}）；请重新获取。</translation>
    </message>
    <message>
        <source>The weights in {0} are not those of the architecture {1} that its config.json names; get the model again.</source>
        <translation>{0} 中的权重不属于其 config.json 所写的架构 {1}；请重新获取模型。</translation>
    </message>
    <message>
        <source>The weights in {0} cannot be read; get the model again.</source>
        <translation>无法读取 {0} 中的权重；请重新获取模型。</translation>
    </message>
    <message>
        <source>There is no answer to continue; ask a question first.</source>
        <translation>没有可继续的回答；请先提一个问题。</translation>
    </message>
    <message>
        <source>There is no file or folder {0}.</source>
        <translation>没有文件或文件夹 {0}。</translation>
    </message>
    <message>
        <source>There is no model named {0}; {1}.</source>
        <translation>没有名为 {0} 的模型；{1}。</translation>
    </message>
    <message>
        <source>There is no question to answer; write one first.</source>
        <translation>没有要回答的问题；请先写一个。</translation>
    </message>
    <message>
        <source>There is no room for {0} with {1} in {2}</source>
        <translation>在{2}中，{1} 没有空间容纳{0}</translation>
    </message>
    <message>
        <source>There is no text to read.</source>
        <translation>没有可读取的文本。</translation>
    </message>
    <message>
        <source>There is no {0} format for the {1} device; choose one of {2}.</source>
        <translation>设备 {1} 没有 {0} 格式；请从 {2} 中选择。</translation>
    </message>
    <message>
        <source>This conversation has {0} tokens, but the model can hold {1}; shorten the message or start a new chat.</source>
        <translation>此对话有 {0} 个词元，而模型只能容纳 {1} 个；请缩短消息或新建对话。</translation>
    </message>
    <message>
        <source>This machine has no {0} device; choose another one or leave the choice to Loquat.</source>
        <translation>此电脑没有 {0} 设备；请选择其他设备，或让 Loquat 决定。</translation>
    </message>
    <message>
        <source>This model has no token that ends a reply, so it cannot be held to a JSON schema.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This model has weights that are not numbers; download it again.</source>
        <translation>此模型的权重中有非数值；请重新下载。</translation>
    </message>
    <message>
        <source>This model has weights too large to be compressed.</source>
        <translation>此模型的权重过大，无法压缩。</translation>
    </message>
    <message>
        <source>This model is loaded; choose another one before you remove it.</source>
        <translation>此模型已加载；移除前请先选择另一个。</translation>
    </message>
    <message>
        <source>This model keeps its cache in a way that is not supported; choose another one.</source>
        <translation>此模型的缓存方式暂不支持；请选择其他模型。</translation>
    </message>
    <message>
        <source>This model keeps its state in a way that is not supported; choose another one.</source>
        <translation>此模型的状态保存方式暂不支持；请选择其他模型。</translation>
    </message>
    <message>
        <source>This model&apos;s position embedding, {0}, is not supported.</source>
        <translation>此模型的位置编码 {0} 暂不支持。</translation>
    </message>
    <message>
        <source>a big-endian file</source>
        <translation>大端序文件</translation>
    </message>
    <message>
        <source>a context of {0} tokens ({1})</source>
        <translation>{0} 个词元的上下文（{1}）</translation>
    </message>
    <message>
        <source>a list of numbers</source>
        <translation>数字列表</translation>
    </message>
    <message>
        <source>a list of texts</source>
        <translation>文本列表</translation>
    </message>
    <message>
        <source>a number above zero</source>
        <translation>大于零的数</translation>
    </message>
    <message>
        <source>a row of the tensor {0} is no whole number of {1} blocks</source>
        <translation>张量 {0} 的一行不是整数个 {1} 块</translation>
    </message>
    <message>
        <source>a text in it is no UTF-8</source>
        <translation>其中有文本不是 UTF-8</translation>
    </message>
    <message>
        <source>a whole number</source>
        <translation>整数</translation>
    </message>
    <message>
        <source>as set</source>
        <translation>按设置</translation>
    </message>
    <message>
        <source>attention size</source>
        <translation>注意力大小</translation>
    </message>
    <message>
        <source>caches are limited to {0}, as set</source>
        <translation>按设置，缓存限制为 {0}</translation>
    </message>
    <message>
        <source>compiled CPU kernels for {0} ({1} weights, 15-bit activations)</source>
        <translation>为 {0} 编译的 CPU 内核（{1} 权重，15 位激活）</translation>
    </message>
    <message>
        <source>fast decoder for {0} in torch operations ({1})</source>
        <translation>{0} 的快速解码器，使用 torch 运算（{1}）</translation>
    </message>
    <message>
        <source>head size</source>
        <translation>注意力头大小</translation>
    </message>
    <message>
        <source>hidden size</source>
        <translation>隐藏层大小</translation>
    </message>
    <message>
        <source>import the model</source>
        <translation>导入模型</translation>
    </message>
    <message>
        <source>it ends in the middle of a text</source>
        <translation>文件在文本中间结束</translation>
    </message>
    <message>
        <source>it ends too early</source>
        <translation>文件过早结束</translation>
    </message>
    <message>
        <source>it holds a value of the unknown kind {0}</source>
        <translation>其中有未知类型 {0} 的值</translation>
    </message>
    <message>
        <source>it holds {0} twice</source>
        <translation>其中 {0} 出现两次</translation>
    </message>
    <message>
        <source>it is {0} bytes long where {1} are described</source>
        <translation>长度为 {0} 字节，而描述为 {1} 字节</translation>
    </message>
    <message>
        <source>its alignment is {0}</source>
        <translation>其对齐为 {0}</translation>
    </message>
    <message>
        <source>its header cannot be read</source>
        <translation>无法读取文件头</translation>
    </message>
    <message>
        <source>its header is longer than the file allows</source>
        <translation>文件头超出文件长度</translation>
    </message>
    <message>
        <source>keys and values in {0}: {1} cannot hold them in {2}</source>
        <translation>键和值为 {0}：{1}不能以 {2} 保存</translation>
    </message>
    <message>
        <source>logit_bias names token {0}, but the model has tokens 0 to {1}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no CUDA device found</source>
        <translation>未发现 CUDA 设备</translation>
    </message>
    <message>
        <source>none is there yet; add one with: loquat models add FILE_OR_FOLDER</source>
        <translation>还没有模型；用此命令添加：loquat models add FILE_OR_FOLDER</translation>
    </message>
    <message>
        <source>of GGUF version {0}</source>
        <translation> GGUF 第 {0} 版</translation>
    </message>
    <message>
        <source>rows of the key heads</source>
        <translation>键头的行</translation>
    </message>
    <message>
        <source>rows of the query heads</source>
        <translation>查询头的行</translation>
    </message>
    <message>
        <source>set the default model</source>
        <translation>设置默认模型</translation>
    </message>
    <message>
        <source>the CPU kernels could not be compiled</source>
        <translation>无法编译 CPU 内核</translation>
    </message>
    <message>
        <source>the compiled kernels</source>
        <translation>编译的内核</translation>
    </message>
    <message>
        <source>the driver</source>
        <translation>驱动程序</translation>
    </message>
    <message>
        <source>the entry of {0} cannot be read</source>
        <translation>{0} 的条目无法读取</translation>
    </message>
    <message>
        <source>the place of {0} is wrong</source>
        <translation>{0} 的位置有误</translation>
    </message>
    <message>
        <source>the system and other programs</source>
        <translation>系统和其他程序</translation>
    </message>
    <message>
        <source>the tensor {0} has {1} dimensions</source>
        <translation>张量 {0} 有 {1} 个维度</translation>
    </message>
    <message>
        <source>the tensor {0} is empty</source>
        <translation>张量 {0} 是空的</translation>
    </message>
    <message>
        <source>the tensor {0} is not aligned</source>
        <translation>张量 {0} 未对齐</translation>
    </message>
    <message>
        <source>the tensor {0} overlaps another</source>
        <translation>张量 {0} 与另一个重叠</translation>
    </message>
    <message>
        <source>the tensor {0} reaches beyond its end</source>
        <translation>张量 {0} 超出文件末尾</translation>
    </message>
    <message>
        <source>the {0} that Loquat may use ({1})</source>
        <translation> Loquat 可用的 {0}（{1}）</translation>
    </message>
    <message>
        <source>there are: {0}</source>
        <translation>现有：{0}</translation>
    </message>
    <message>
        <source>this processor lacks {0}</source>
        <translation>此处理器缺少 {0}</translation>
    </message>
    <message>
        <source>through transformers: {0}</source>
        <translation>通过 transformers：{0}</translation>
    </message>
    <message>
        <source>torch, while the faster CPU kernels are compiled</source>
        <translation>在编译更快的 CPU 内核期间使用 torch</translation>
    </message>
    <message>
        <source>true or false</source>
        <translation>真或假</translation>
    </message>
    <message>
        <source>two tensors in it have the same name</source>
        <translation>其中两个张量同名</translation>
    </message>
    <message>
        <source>with a CUDA graph for decode</source>
        <translation>解码使用 CUDA 图</translation>
    </message>
    <message>
        <source>without a CUDA graph, which could not be captured</source>
        <translation>未使用 CUDA 图（无法捕获）</translation>
    </message>
    <message>
        <source>without a CUDA graph, which gave other logits</source>
        <translation>未使用 CUDA 图（结果不一致）</translation>
    </message>
    <message>
        <source>{0} Trying once more</source>
        <translation>{0}正在重试</translation>
    </message>
    <message>
        <source>{0} by bitsandbytes</source>
        <translation>{0}，由 bitsandbytes 提供</translation>
    </message>
    <message>
        <source>{0} cannot be a model&apos;s name; use up to 64 small letters, digits, dots, dashes and underscores.</source>
        <translation>{0} 不能作为模型名称；请用至多 64 个小写字母、数字、点、连字符和下划线。</translation>
    </message>
    <message>
        <source>{0} cannot be read; remove the model and add it again.</source>
        <translation>无法读取 {0}；请移除模型后重新添加。</translation>
    </message>
    <message>
        <source>{0} conversations of {1} tokens ({2})</source>
        <translation>{0} 个各 {1} 词元的对话（{2}）</translation>
    </message>
    <message>
        <source>{0} is damaged; remove the model and add it again.</source>
        <translation>{0} 已损坏；请移除模型后重新添加。</translation>
    </message>
    <message>
        <source>{0} is missing</source>
        <translation>缺少 {0}</translation>
    </message>
    <message>
        <source>{0} of {1}, as set</source>
        <translation>{1} 的 {0}，按设置</translation>
    </message>
    <message>
        <source>{0} of {1}; the rest is for {2}</source>
        <translation>{1} 的 {0}；其余留给{2}</translation>
    </message>
    <message>
        <source>{0} should be {1}</source>
        <translation>{0} 应为{1}</translation>
    </message>
    <message>
        <source>{0} takes {1} before the first word, too much for {2}; choose a smaller model.</source>
        <translation>{0} 在第一个词之前就要占用 {1}，超出了{2}；请选择更小的模型。</translation>
    </message>
    <message>
        <source>{0} thread</source>
        <translation>{0} 个线程</translation>
    </message>
    <message>
        <source>{0} threads</source>
        <translation>{0} 个线程</translation>
    </message>
    <message>
        <source>{0}, as set</source>
        <translation>{0}，按设置</translation>
    </message>
    <message>
        <source>{0}, not {1}: there are no more</source>
        <translation>{0}，不是 {1} 个：没有更多了</translation>
    </message>
    <message>
        <source>{0}; the largest that fits is {1}.</source>
        <translation>{0}；能容纳的最大配置是{1}。</translation>
    </message>
</context>
<context>
    <name>folder_dialog</name>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chats can be dragged onto it, or moved with their menu.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Create</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name of the folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New folder</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>found_rows</name>
    <message>
        <source>There are more. Another word narrows them down.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>search_field</name>
    <message>
        <source>Clear the search (Esc)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search all chats</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search all chats ({keys})</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>search_results</name>
    <message>
        <source>Answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat {title}, {when}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What was found</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{who}: {text}, {when}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>sidebar</name>
    <message>
        <source>Conversations</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New chat ({keys})</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing was found for “{query}”.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Offline. Nothing leaves this machine.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings (Ctrl+,)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your conversations will stand here.
They stay on this machine.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>words</name>
    <message>
        <source>Answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cut off: the context or the length limit is full</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Interrupted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Last week</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>MMMM</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>MMMM yyyy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Online, only to download the model. Your chats stay here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reads 1 new token, {share} %</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reads the question</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reads {count} new tokens, {share} %</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The message above did not fit the context and was not read for the last answer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The {count} messages above did not fit the context and were not read for the last answer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Today</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waits for its turn</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waits for the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>d MMM</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>d MMM yyyy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{hours} h</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{minutes} min</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{minutes} min {seconds} s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{seconds} s</source>
        <translation type="unfinished"></translation>
    </message>
</context>
</TS>
