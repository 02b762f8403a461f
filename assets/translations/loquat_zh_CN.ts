<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN">
<context>
    <name>actions</name>
    <message>
        <source>Add a server…</source>
        <translation>添加服务器…</translation>
    </message>
    <message>
        <source>All turns…</source>
        <translation>所有轮次…</translation>
    </message>
    <message>
        <source>Answer the last question once more</source>
        <translation>重新回答上一个问题</translation>
    </message>
    <message>
        <source>Archive this chat</source>
        <translation>归档此对话</translation>
    </message>
    <message>
        <source>Assistants…</source>
        <translation>助手…</translation>
    </message>
    <message>
        <source>Attach files…</source>
        <translation>附加文件…</translation>
    </message>
    <message>
        <source>Back to the previous model</source>
        <translation>回到上一个模型</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Check that reuse changes no answer</source>
        <translation>检查复用不会改变回答</translation>
    </message>
    <message>
        <source>Compare with and without the cache</source>
        <translation>比较使用和不用缓存</translation>
    </message>
    <message>
        <source>Continue the last answer</source>
        <translation>继续上一个回答</translation>
    </message>
    <message>
        <source>Copy the last answer</source>
        <translation>复制上一个回答</translation>
    </message>
    <message>
        <source>Copy this chat as Markdown</source>
        <translation>以 Markdown 复制此对话</translation>
    </message>
    <message>
        <source>Delete this chat</source>
        <translation>删除此对话</translation>
    </message>
    <message>
        <source>Export all chats…</source>
        <translation>导出全部对话…</translation>
    </message>
    <message>
        <source>Export figures of all turns (CSV)…</source>
        <translation>导出所有轮次的数据（CSV）…</translation>
    </message>
    <message>
        <source>Export this chat…</source>
        <translation>导出此对话…</translation>
    </message>
    <message>
        <source>Find anything to do or open</source>
        <translation>查找任何操作或对话</translation>
    </message>
    <message>
        <source>Find in this chat</source>
        <translation>在此对话中查找</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>帮助</translation>
    </message>
    <message>
        <source>Import chats…</source>
        <translation>导入对话…</translation>
    </message>
    <message>
        <source>Jump to the latest message</source>
        <translation>跳到最新消息</translation>
    </message>
    <message>
        <source>Larger text</source>
        <translation>放大文字</translation>
    </message>
    <message>
        <source>Light or dark</source>
        <translation>浅色或深色</translation>
    </message>
    <message>
        <source>Loquat</source>
        <translation>Loquat</translation>
    </message>
    <message>
        <source>Messages</source>
        <translation>消息</translation>
    </message>
    <message>
        <source>Models: get, import, rename, delete…</source>
        <translation>模型：获取、导入、重命名、删除…</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>Next chat in the list</source>
        <translation>列表中的下一个对话</translation>
    </message>
    <message>
        <source>Options of this chat…</source>
        <translation>此对话的选项…</translation>
    </message>
    <message>
        <source>Pin or unpin this chat</source>
        <translation>置顶或取消置顶此对话</translation>
    </message>
    <message>
        <source>Previous chat in the list</source>
        <translation>列表中的上一个对话</translation>
    </message>
    <message>
        <source>Quick ask</source>
        <translation>快速提问</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>退出</translation>
    </message>
    <message>
        <source>Rename this chat</source>
        <translation>重命名此对话</translation>
    </message>
    <message>
        <source>Search all chats</source>
        <translation>搜索全部对话</translation>
    </message>
    <message>
        <source>Serve other programs…</source>
        <translation>为其他程序提供服务…</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Show or fold the inspector</source>
        <translation>显示或收起检查器</translation>
    </message>
    <message>
        <source>Show or fold the sidebar</source>
        <translation>显示或收起侧栏</translation>
    </message>
    <message>
        <source>Smaller text</source>
        <translation>缩小文字</translation>
    </message>
    <message>
        <source>Stop the answer</source>
        <translation>停止回答</translation>
    </message>
    <message>
        <source>Undo the latest deletion</source>
        <translation>撤销最近的删除</translation>
    </message>
    <message>
        <source>Use a model file…</source>
        <translation>使用模型文件…</translation>
    </message>
    <message>
        <source>Use a model folder…</source>
        <translation>使用模型文件夹…</translation>
    </message>
    <message>
        <source>View</source>
        <translation>视图</translation>
    </message>
    <message>
        <source>Where the time went</source>
        <translation>时间用在了哪里</translation>
    </message>
    <message>
        <source>title</source>
        <translation>标题</translation>
    </message>
    <message>
        <source>words</source>
        <translation>词语</translation>
    </message>
</context>
<context>
    <name>archive_page</name>
    <message>
        <source>Archived chats</source>
        <translation>已归档的对话</translation>
    </message>
    <message>
        <source>Back to all chats (Esc)</source>
        <translation>返回全部对话（Esc）</translation>
    </message>
</context>
<context>
    <name>assistant_button</name>
    <message>
        <source>Assistant: {name}</source>
        <translation>助手：{name}</translation>
    </message>
    <message>
        <source>Choose the assistant, now {name}</source>
        <translation>选择助手，当前为{name}</translation>
    </message>
    <message>
        <source>Plain</source>
        <translation>普通</translation>
    </message>
</context>
<context>
    <name>assistant_editor</name>
    <message>
        <source>Academic cap</source>
        <translation>学士帽</translation>
    </message>
    <message>
        <source>As the settings say</source>
        <translation>按照设置</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>代码</translation>
    </message>
    <message>
        <source>Comes with Loquat. Duplicate it to change it.</source>
        <translation>Loquat 自带。复制一份即可修改。</translation>
    </message>
    <message>
        <source>Flask</source>
        <translation>烧瓶</translation>
    </message>
    <message>
        <source>Globe</source>
        <translation>地球</translation>
    </message>
    <message>
        <source>Heart</source>
        <translation>心形</translation>
    </message>
    <message>
        <source>Light bulb</source>
        <translation>灯泡</translation>
    </message>
    <message>
        <source>Lines</source>
        <translation>文字行</translation>
    </message>
    <message>
        <source>Manner</source>
        <translation>风格</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Music</source>
        <translation>音乐</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Opening</source>
        <translation>开场白</translation>
    </message>
    <message>
        <source>Pen</source>
        <translation>笔</translation>
    </message>
    <message>
        <source>Spark</source>
        <translation>星光</translation>
    </message>
    <message>
        <source>Speech bubble</source>
        <translation>对话气泡</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>系统提示词</translation>
    </message>
    <message>
        <source>Two scripts</source>
        <translation>两种文字</translation>
    </message>
    <message>
        <source>What an empty chat says</source>
        <translation>空白对话中显示的文字</translation>
    </message>
    <message>
        <source>What the model is told before the chat begins</source>
        <translation>对话开始前告诉模型的内容</translation>
    </message>
    <message>
        <source>Whichever is loaded</source>
        <translation>当前加载的模型</translation>
    </message>
</context>
<context>
    <name>assistants</name>
    <message>
        <source>A name has at most {most} characters.</source>
        <translation>名称最多 {most} 个字符。</translation>
    </message>
    <message>
        <source>A system prompt has at most {most} characters.</source>
        <translation>系统提示词最多 {most} 个字符。</translation>
    </message>
    <message>
        <source>An assistant needs a name.</source>
        <translation>助手需要一个名称。</translation>
    </message>
    <message>
        <source>Ask anything.</source>
        <translation>随便问点什么。</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>代码</translation>
    </message>
    <message>
        <source>Paste English or Chinese; it comes back in the other.</source>
        <translation>粘贴英文或中文，译成另一种语言。</translation>
    </message>
    <message>
        <source>Paste a long text, or drop a file.</source>
        <translation>粘贴长文本，或拖入文件。</translation>
    </message>
    <message>
        <source>Paste a text, or say what should be written.</source>
        <translation>粘贴文本，或说明要写什么。</translation>
    </message>
    <message>
        <source>Paste code, or say what it should do.</source>
        <translation>粘贴代码，或说明代码要做什么。</translation>
    </message>
    <message>
        <source>Plain</source>
        <translation>普通</translation>
    </message>
    <message>
        <source>Summary</source>
        <translation>摘要</translation>
    </message>
    <message>
        <source>The assistants could not be saved in {folder}. Is there room on the disk?</source>
        <translation>无法在 {folder} 中保存助手。磁盘还有空间吗？</translation>
    </message>
    <message>
        <source>There is no such icon.</source>
        <translation>没有这个图标。</translation>
    </message>
    <message>
        <source>This assistant comes with Loquat. Duplicate it to change it.</source>
        <translation>这个助手是 Loquat 自带的。复制一份即可修改。</translation>
    </message>
    <message>
        <source>Translator</source>
        <translation>翻译</translation>
    </message>
    <message>
        <source>Tutor</source>
        <translation>辅导</translation>
    </message>
    <message>
        <source>What would you like to understand?</source>
        <translation>你想弄懂什么？</translation>
    </message>
    <message>
        <source>Writing</source>
        <translation>写作</translation>
    </message>
    <message>
        <source>Your assistants could not be read.</source>
        <translation>无法读取你的助手。</translation>
    </message>
    <message>
        <source>Your assistants could not be read; they were kept as {name}.</source>
        <translation>无法读取你的助手；原文件已保留为 {name}。</translation>
    </message>
    <message>
        <source>{name} is no way of answering.</source>
        <translation>{name} 不是回答方式的设置。</translation>
    </message>
</context>
<context>
    <name>assistants_dialog</name>
    <message>
        <source>Assistants</source>
        <translation>助手</translation>
    </message>
    <message>
        <source>Bring the assistant back</source>
        <translation>恢复该助手</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Deleted “{name}”.</source>
        <translation>已删除“{name}”。</translation>
    </message>
    <message>
        <source>Duplicate</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>New</source>
        <translation>新建</translation>
    </message>
    <message>
        <source>New assistant</source>
        <translation>新助手</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
</context>
<context>
    <name>assisting</name>
    <message>
        <source>All assistants…</source>
        <translation>所有助手…</translation>
    </message>
    <message>
        <source>Options of this chat…</source>
        <translation>此对话的选项…</translation>
    </message>
    <message>
        <source>an assistant that is gone</source>
        <translation>已不存在的助手</translation>
    </message>
</context>
<context>
    <name>attached_files</name>
    <message>
        <source>At most {count} files can go with one question.</source>
        <translation>一个问题最多附带 {count} 个文件。</translation>
    </message>
    <message>
        <source>Attached: {name}, {details}</source>
        <translation>已附加：{name}，{details}</translation>
    </message>
</context>
<context>
    <name>attachment_chip</name>
    <message>
        <source>Attachment {name}, {details}. Delete removes it.</source>
        <translation>附件 {name}，{details}。按 Delete 移除。</translation>
    </message>
    <message>
        <source>Paste as text</source>
        <translation>作为文本粘贴</translation>
    </message>
    <message>
        <source>Reads it…</source>
        <translation>正在读取…</translation>
    </message>
    <message>
        <source>Remove {name}</source>
        <translation>移除 {name}</translation>
    </message>
    <message>
        <source>Write it into the question instead (Ctrl+Shift+V does so at once)</source>
        <translation>改为写入问题中（Ctrl+Shift+V 可直接这样粘贴）</translation>
    </message>
    <message>
        <source>about 1 token</source>
        <translation>约 1 个词元</translation>
    </message>
    <message>
        <source>about {count} tokens</source>
        <translation>约 {count} 个词元</translation>
    </message>
</context>
<context>
    <name>attachments</name>
    <message>
        <source>Pasted text</source>
        <translation>粘贴的文本</translation>
    </message>
    <message>
        <source>This model reads text only.</source>
        <translation>此模型只能读取文本。</translation>
    </message>
    <message>
        <source>{name} cannot be read: {reason}.</source>
        <translation>无法读取 {name}：{reason}。</translation>
    </message>
    <message>
        <source>{name} is a PDF. Loquat reads text files; copy its text and paste it here.</source>
        <translation>{name} 是 PDF。Loquat 读取文本文件；请复制其文字并粘贴到这里。</translation>
    </message>
    <message>
        <source>{name} is a folder. Please choose the files in it.</source>
        <translation>{name} 是文件夹。请选择其中的文件。</translation>
    </message>
    <message>
        <source>{name} is empty.</source>
        <translation>{name} 是空的。</translation>
    </message>
    <message>
        <source>{name} is not a file.</source>
        <translation>{name} 不是文件。</translation>
    </message>
    <message>
        <source>{name} is not a text file.</source>
        <translation>{name} 不是文本文件。</translation>
    </message>
    <message>
        <source>{name} is too large: at most 5 MB can be attached.</source>
        <translation>{name} 太大：最多可附加 5 MB。</translation>
    </message>
</context>
<context>
    <name>cache_page</name>
    <message>
        <source>Both gave the same tokens.</source>
        <translation>两次得到的词元相同。</translation>
    </message>
    <message>
        <source>Cache afterwards</source>
        <translation>之后的缓存</translation>
    </message>
    <message>
        <source>Cancel ({done} of {total} tokens)</source>
        <translation>取消（{done} / {total} 个词元）</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>比较</translation>
    </message>
    <message>
        <source>Generates 32 tokens of this chat twice: with the KV cache, and with none, so that every token computes the whole chat again.</source>
        <translation>将此对话的 32 个词元生成两次：一次使用 KV 缓存，一次不用，后者每个词元都要重新计算整个对话。</translation>
    </message>
    <message>
        <source>Keys, and values, of a layer</source>
        <translation>每层的键与值</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>层数</translation>
    </message>
    <message>
        <source>Next token</source>
        <translation>下一个词元</translation>
    </message>
    <message>
        <source>Step 1: prefill of the prompt</source>
        <translation>步骤 1：预填充提示</translation>
    </message>
    <message>
        <source>Step 2: one token with the cache</source>
        <translation>步骤 2：用缓存生成一个词元</translation>
    </message>
    <message>
        <source>The tokens differ: please report this as a fault.</source>
        <translation>词元不同：请将此作为故障报告。</translation>
    </message>
    <message>
        <source>There were too few tokens to compare.</source>
        <translation>词元太少，无法比较。</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>Time per token</source>
        <translation>每词元时间</translation>
    </message>
    <message>
        <source>Tokens read</source>
        <translation>读取的词元</translation>
    </message>
    <message>
        <source>With the cache</source>
        <translation>使用缓存</translation>
    </message>
    <message>
        <source>With the cache, median</source>
        <translation>使用缓存，中位数</translation>
    </message>
    <message>
        <source>Without</source>
        <translation>不用缓存</translation>
    </message>
    <message>
        <source>Without the cache a token takes {factor} times as long. {tokens}</source>
        <translation>不用缓存时，每个词元的耗时是使用缓存时的 {factor} 倍。{tokens}</translation>
    </message>
    <message>
        <source>Without, median</source>
        <translation>不用缓存，中位数</translation>
    </message>
    <message>
        <source>ms per token</source>
        <translation>毫秒/词元</translation>
    </message>
    <message>
        <source>or</source>
        <translation>或</translation>
    </message>
    <message>
        <source>position</source>
        <translation>位置</translation>
    </message>
</context>
<context>
    <name>chat_check</name>
    <message>
        <source>A chat can be checked once a model is loaded.</source>
        <translation>加载模型后才能检查对话。</translation>
    </message>
    <message>
        <source>Reuse changed an answer, please report this: {equal} of {all} tokens equal, {kept} s with the cache, {fresh} s without.</source>
        <translation>复用改变了回答，请报告：{all} 个词元中 {equal} 个相同，使用缓存 {kept} 秒，不用缓存 {fresh} 秒。</translation>
    </message>
    <message>
        <source>Reuse changed nothing: {equal} of {all} tokens equal, {kept} s with the cache, {fresh} s without.</source>
        <translation>复用没有改变任何回答：{all} 个词元中 {equal} 个相同，使用缓存 {kept} 秒，不用缓存 {fresh} 秒。</translation>
    </message>
    <message>
        <source>The answer is still being written. Please wait for it, or press Stop.</source>
        <translation>回答仍在生成。请等待，或按“停止”。</translation>
    </message>
    <message>
        <source>There is no question in this chat yet, so nothing to check.</source>
        <translation>此对话中还没有问题，没有可检查的内容。</translation>
    </message>
</context>
<context>
    <name>chat_header</name>
    <message>
        <source>Add a server…</source>
        <translation>添加服务器…</translation>
    </message>
    <message>
        <source>Archive</source>
        <translation>归档</translation>
    </message>
    <message>
        <source>As the system says</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Assistant and options…</source>
        <translation>助手与选项…</translation>
    </message>
    <message>
        <source>Back to {name}</source>
        <translation>回到 {name}</translation>
    </message>
    <message>
        <source>Change {name}…</source>
        <translation>更改 {name}…</translation>
    </message>
    <message>
        <source>Check this chat</source>
        <translation>检查此对话</translation>
    </message>
    <message>
        <source>Copy as Markdown</source>
        <translation>复制为 Markdown</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Export all chats…</source>
        <translation>导出全部对话…</translation>
    </message>
    <message>
        <source>Export this chat…</source>
        <translation>导出此对话…</translation>
    </message>
    <message>
        <source>Find in this chat…</source>
        <translation>在此对话中查找…</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>帮助</translation>
    </message>
    <message>
        <source>Import chats…</source>
        <translation>导入对话…</translation>
    </message>
    <message>
        <source>Inspector</source>
        <translation>检查器</translation>
    </message>
    <message>
        <source>Inspector (F12)</source>
        <translation>检查器（F12）</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Light or dark</source>
        <translation>浅色或深色</translation>
    </message>
    <message>
        <source>Loaded in {time}</source>
        <translation>加载用时 {time}</translation>
    </message>
    <message>
        <source>Model on its way</source>
        <translation>模型准备中</translation>
    </message>
    <message>
        <source>Model: {name}</source>
        <translation>模型：{name}</translation>
    </message>
    <message>
        <source>Models…</source>
        <translation>模型…</translation>
    </message>
    <message>
        <source>More</source>
        <translation>更多</translation>
    </message>
    <message>
        <source>No model</source>
        <translation>没有模型</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>重命名</translation>
    </message>
    <message>
        <source>Runs on {server}. What you write goes to {host}.</source>
        <translation>在 {server} 上运行。你写的内容会发送到 {host}。</translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation>设置…</translation>
    </message>
    <message>
        <source>Show or hide the chats (Ctrl+B)</source>
        <translation>显示或隐藏对话列表（Ctrl+B）</translation>
    </message>
    <message>
        <source>The server does not tell its context</source>
        <translation>服务器没有说明上下文长度</translation>
    </message>
    <message>
        <source>Use a model file (GGUF)…</source>
        <translation>使用 GGUF 模型文件…</translation>
    </message>
    <message>
        <source>Use a model folder…</source>
        <translation>使用模型文件夹…</translation>
    </message>
    <message>
        <source>Why the answer is as fast as it is (F12)</source>
        <translation>回答为什么是这个速度（F12）</translation>
    </message>
    <message>
        <source>on {server}</source>
        <translation>在 {server} 上</translation>
    </message>
    <message>
        <source>{count} tokens of context</source>
        <translation>上下文 {count} 个词元</translation>
    </message>
    <message>
        <source>{count} tokens of context, {size} each</source>
        <translation>上下文 {count} 个词元，每个 {size}</translation>
    </message>
    <message>
        <source>{millions} million parameters, {size} in memory</source>
        <translation>参数 {millions}M，占内存 {size}</translation>
    </message>
    <message>
        <source>{server}: {model}</source>
        <translation>{server}：{model}</translation>
    </message>
</context>
<context>
    <name>chat_options_dialog</name>
    <message>
        <source>Assistant</source>
        <translation>助手</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Greedy, reproducible</source>
        <translation>贪心，可重现</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Said to the model before this chat.</source>
        <translation>在此对话之前告诉模型。</translation>
    </message>
    <message>
        <source>Said to the model before this chat. Once changed, all of the chat is read anew.</source>
        <translation>在此对话之前告诉模型。修改后，整个对话会重新读取。</translation>
    </message>
    <message>
        <source>Sets what stands below, which you can still change.</source>
        <translation>决定以下各项，之后仍可修改。</translation>
    </message>
    <message>
        <source>Temperature 0: always the likeliest word, so the same question gives the same answer.</source>
        <translation>温度为 0：总是选最可能的词，同样的问题得到同样的回答。</translation>
    </message>
    <message>
        <source>This chat</source>
        <translation>此对话</translation>
    </message>
</context>
<context>
    <name>chat_view</name>
    <message>
        <source>Chat</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Jump to the latest (Ctrl+End)</source>
        <translation>跳到最新（Ctrl+End）</translation>
    </message>
</context>
<context>
    <name>chat_words</name>
    <message numerus="yes">
        <source>%Ln messages were deleted.</source>
        <translation>
            <numerusform>已删除 %Ln 条消息。</numerusform>
        </translation>
    </message>
    <message>
        <source>The message was deleted.</source>
        <translation>已删除该消息。</translation>
    </message>
    <message numerus="yes">
        <source>This chat is longer than the model can hold: the %Ln oldest messages were not read for the last answer.</source>
        <translation>
            <numerusform>此对话超出模型的容量：上一个回答没有读取最早的 %Ln 条消息。</numerusform>
        </translation>
    </message>
    <message>
        <source>This chat is longer than the model can hold: the oldest message was not read for the last answer.</source>
        <translation>此对话超出模型的容量：上一个回答没有读取最早的一条消息。</translation>
    </message>
</context>
<context>
    <name>chats</name>
    <message>
        <source>Back to {model}</source>
        <translation>回到 {model}</translation>
    </message>
    <message>
        <source>Choose a model…</source>
        <translation>选择模型…</translation>
    </message>
    <message>
        <source>Everything is saved again.</source>
        <translation>现在所有内容都已保存。</translation>
    </message>
    <message>
        <source>In “{title}”: {sentence}</source>
        <translation>在“{title}”中：{sentence}</translation>
    </message>
    <message>
        <source>The check was given up, because something was asked.</source>
        <translation>因为有新的提问，检查已中止。</translation>
    </message>
    <message>
        <source>This answer is still being written. Please wait for it, or press Stop.</source>
        <translation>这个回答仍在生成。请等待，或按“停止”。</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
</context>
<context>
    <name>code_view</name>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copy this code</source>
        <translation>复制这段代码</translation>
    </message>
    <message>
        <source>Scroll the code sideways</source>
        <translation>左右滚动代码</translation>
    </message>
    <message>
        <source>code</source>
        <translation>代码</translation>
    </message>
</context>
<context>
    <name>commands</name>
    <message>
        <source>Chats</source>
        <translation>对话</translation>
    </message>
</context>
<context>
    <name>composer</name>
    <message>
        <source>Ask anything. Drop a file to talk about it.</source>
        <translation>随便问点什么。拖入文件即可讨论它。</translation>
    </message>
    <message>
        <source>Attach</source>
        <translation>附加</translation>
    </message>
    <message>
        <source>Attach text files</source>
        <translation>附加文本文件</translation>
    </message>
    <message>
        <source>Enter sends</source>
        <translation>Enter 发送</translation>
    </message>
    <message>
        <source>Enter sends it after this answer</source>
        <translation>Enter 在此回答之后发送</translation>
    </message>
    <message>
        <source>Enter sends, Shift+Enter breaks the line</source>
        <translation>Enter 发送，Shift+Enter 换行</translation>
    </message>
    <message>
        <source>Esc stops the answer</source>
        <translation>Esc 停止回答</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>排队</translation>
    </message>
    <message>
        <source>Reads {name}…</source>
        <translation>正在读取 {name}…</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>发送</translation>
    </message>
    <message>
        <source>Send the question (Enter)</source>
        <translation>发送问题（Enter）</translation>
    </message>
    <message>
        <source>Send the question after this answer (Enter)</source>
        <translation>在此回答之后发送问题（Enter）</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Stop the answer (Esc)</source>
        <translation>停止回答（Esc）</translation>
    </message>
    <message>
        <source>Your question</source>
        <translation>你的问题</translation>
    </message>
</context>
<context>
    <name>conductor</name>
    <message>
        <source>Back to {model}</source>
        <translation>回到 {model}</translation>
    </message>
    <message>
        <source>Send it as it is</source>
        <translation>按原样发送</translation>
    </message>
    <message>
        <source>There is no command “/{word}”.</source>
        <translation>没有命令“/{word}”。</translation>
    </message>
    <message>
        <source>There is nothing to rename yet. Please ask something first.</source>
        <translation>还没有可以重命名的对话。请先提一个问题。</translation>
    </message>
</context>
<context>
    <name>controls</name>
    <message>
        <source>Copied</source>
        <translation>已复制</translation>
    </message>
</context>
<context>
    <name>conversation_delegate</name>
    <message>
        <source>New name</source>
        <translation>新名称</translation>
    </message>
</context>
<context>
    <name>conversation_menu</name>
    <message>
        <source>Archive</source>
        <translation>归档</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Delete the folder, keep its chats</source>
        <translation>删除文件夹，保留其中的对话</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>导出…</translation>
    </message>
    <message>
        <source>Fold</source>
        <translation>折叠</translation>
    </message>
    <message>
        <source>Move to folder</source>
        <translation>移到文件夹</translation>
    </message>
    <message>
        <source>New folder…</source>
        <translation>新建文件夹…</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Out of the folder</source>
        <translation>移出文件夹</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>置顶</translation>
    </message>
    <message>
        <source>Put back into the list</source>
        <translation>放回列表</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>重命名</translation>
    </message>
    <message>
        <source>Unfold</source>
        <translation>展开</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>取消置顶</translation>
    </message>
</context>
<context>
    <name>conversation_model</name>
    <message>
        <source>Archived chats: {count}</source>
        <translation>已归档的对话：{count} 个</translation>
    </message>
    <message>
        <source>Folder {name}, chats: {count}, {state}</source>
        <translation>文件夹 {name}，{count} 个对话，{state}</translation>
    </message>
    <message>
        <source>folded</source>
        <translation>已折叠</translation>
    </message>
    <message>
        <source>open</source>
        <translation>已展开</translation>
    </message>
    <message>
        <source>{title}, an answer is being written</source>
        <translation>{title}，正在回答</translation>
    </message>
    <message>
        <source>{title}, {when}</source>
        <translation>{title}，{when}</translation>
    </message>
</context>
<context>
    <name>conversation_rows</name>
    <message>
        <source>Archived</source>
        <translation>已归档</translation>
    </message>
    <message>
        <source>Folders</source>
        <translation>文件夹</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>已置顶</translation>
    </message>
</context>
<context>
    <name>cost_line</name>
    <message>
        <source>1 earlier message will not be read</source>
        <translation>有 1 条较早的消息不会读取</translation>
    </message>
    <message>
        <source>Sending reads 1 new token</source>
        <translation>发送将读取 1 个新词元</translation>
    </message>
    <message>
        <source>Sending reads 1 new token, about {time}</source>
        <translation>发送将读取 1 个新词元，约 {time}</translation>
    </message>
    <message>
        <source>Sending reads about {count} new tokens</source>
        <translation>发送将读取约 {count} 个新词元</translation>
    </message>
    <message>
        <source>Sending reads {count} new tokens</source>
        <translation>发送将读取 {count} 个新词元</translation>
    </message>
    <message>
        <source>Sending reads {count} new tokens, about {time}</source>
        <translation>发送将读取 {count} 个新词元，约 {time}</translation>
    </message>
    <message numerus="yes">
        <source>This edit recomputes %Ln tokens</source>
        <translation>
            <numerusform>此编辑将重新计算 %Ln 个词元</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>This edit recomputes about %Ln tokens</source>
        <translation>
            <numerusform>此编辑将重新计算约 %Ln 个词元</numerusform>
        </translation>
    </message>
    <message>
        <source>Too long</source>
        <translation>过长</translation>
    </message>
    <message>
        <source>Too long for the context</source>
        <translation>超出上下文</translation>
    </message>
    <message>
        <source>Too long: about {count} tokens, and the context holds {limit}</source>
        <translation>过长：约 {count} 个词元，而上下文只能容纳 {limit} 个</translation>
    </message>
    <message>
        <source>Too long: {count} tokens, and the context holds {limit}</source>
        <translation>过长：{count} 个词元，而上下文只能容纳 {limit} 个</translation>
    </message>
    <message>
        <source>about {count} new</source>
        <translation>新增约 {count}</translation>
    </message>
    <message>
        <source>about {left} of {limit} left</source>
        <translation>剩余约 {left} / {limit}</translation>
    </message>
    <message>
        <source>{count} earlier messages will not be read</source>
        <translation>有 {count} 条较早的消息不会读取</translation>
    </message>
    <message>
        <source>{count} new</source>
        <translation>新增 {count}</translation>
    </message>
    <message>
        <source>{count} not read</source>
        <translation>{count} 条不读取</translation>
    </message>
    <message>
        <source>{left} of {limit} left</source>
        <translation>剩余 {left} / {limit}</translation>
    </message>
    <message>
        <source>{seconds} s</source>
        <translation>{seconds} 秒</translation>
    </message>
    <message>
        <source>{tokens}, about {time}</source>
        <translation>{tokens}，约 {time}</translation>
    </message>
</context>
<context>
    <name>crash</name>
    <message>
        <source>Something went wrong inside Loquat.</source>
        <translation>Loquat 内部出错了。</translation>
    </message>
</context>
<context>
    <name>crash_dialog</name>
    <message>
        <source>Copied</source>
        <translation>已复制</translation>
    </message>
    <message>
        <source>Copy report</source>
        <translation>复制报告</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Not everything could be saved. Please copy what you need before you close Loquat.</source>
        <translation>未能全部保存。关闭 Loquat 前请复制需要的内容。</translation>
    </message>
    <message>
        <source>What happened, for a report</source>
        <translation>发生了什么，供报告使用</translation>
    </message>
    <message>
        <source>Your chats were saved first. You can go on, or restart Loquat if something looks wrong.</source>
        <translation>你的对话已先行保存。可以继续使用；如有异常，请重新启动 Loquat。</translation>
    </message>
</context>
<context>
    <name>cuda_offer</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Fetch it</source>
        <translation>下载</translation>
    </message>
    <message>
        <source>The GPU is used from the next start of Loquat on.</source>
        <translation>下次启动 Loquat 时开始使用 GPU。</translation>
    </message>
    <message>
        <source>There is an NVIDIA GPU. To use it, Loquat needs to fetch {size} once.</source>
        <translation>本机有 NVIDIA GPU。要使用它，Loquat 需要下载一次 {size}。</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
</context>
<context>
    <name>db_writer</name>
    <message>
        <source>A message could not be saved. Please copy what matters to you and restart Loquat.</source>
        <translation>有消息未能保存。请复制重要内容并重新启动 Loquat。</translation>
    </message>
    <message>
        <source>New messages cannot be saved at the moment; they are kept in memory and tried again.</source>
        <translation>目前无法保存新消息；已保留在内存中并会重试。</translation>
    </message>
    <message>
        <source>The disk is full: new messages are kept in memory and saved as soon as there is room. Please free some space before you quit.</source>
        <translation>磁盘已满：新消息保留在内存中，一有空间就会保存。退出前请腾出一些空间。</translation>
    </message>
</context>
<context>
    <name>declarations</name>
    <message>
        <source>0 always takes the likeliest word; higher is more varied.</source>
        <translation>0 总是选最可能的词；数值越高越多样。</translation>
    </message>
    <message>
        <source>A chat goes on without being read again after a restart.</source>
        <translation>重新启动后，对话无需重新读取即可继续。</translation>
    </message>
    <message>
        <source>A notification, if the answer took over 10 seconds and the window is not in front.</source>
        <translation>回答超过 10 秒且窗口不在前台时发出通知。</translation>
    </message>
    <message>
        <source>Above 1, words that were used become less likely.</source>
        <translation>大于 1 时，用过的词更不易再出现。</translation>
    </message>
    <message>
        <source>Accent</source>
        <translation>强调色</translation>
    </message>
    <message>
        <source>After the first answer, when nothing else is to be done; a title of yours stays.</source>
        <translation>在第一次回答之后、空闲时进行；你取的标题不会改变。</translation>
    </message>
    <message>
        <source>Answers</source>
        <translation>回答</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>外观</translation>
    </message>
    <message>
        <source>Apple GPU (MPS)</source>
        <translation>Apple GPU (MPS)</translation>
    </message>
    <message>
        <source>As the system says</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>均衡</translation>
    </message>
    <message>
        <source>Beside the size that the system sets for all programs.</source>
        <translation>在系统字号的基础上调整。</translation>
    </message>
    <message>
        <source>Blue</source>
        <translation>蓝</translation>
    </message>
    <message>
        <source>CPU threads</source>
        <translation>CPU 线程</translation>
    </message>
    <message>
        <source>Cached keys and values</source>
        <translation>缓存的键和值</translation>
    </message>
    <message>
        <source>Chooses among the likeliest tokens that make up this share.</source>
        <translation>从累计概率达到此值的最可能词元中选择。</translation>
    </message>
    <message>
        <source>Chooses among this many likeliest tokens; 0 is no limit.</source>
        <translation>从这么多个最可能的词元中选择；0 为不限。</translation>
    </message>
    <message>
        <source>Closing the window leaves the model loaded; Quit in the tray ends Loquat.</source>
        <translation>关闭窗口后模型仍保持加载；在托盘中选“退出”来结束 Loquat。</translation>
    </message>
    <message>
        <source>Comfortable</source>
        <translation>宽松</translation>
    </message>
    <message>
        <source>Compact</source>
        <translation>紧凑</translation>
    </message>
    <message>
        <source>Context limit</source>
        <translation>上下文上限</translation>
    </message>
    <message>
        <source>Chats</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Creative</source>
        <translation>创意</translation>
    </message>
    <message>
        <source>Custom</source>
        <translation>自定义</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>Density</source>
        <translation>密度</translation>
    </message>
    <message>
        <source>Desktop</source>
        <translation>桌面</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Disk for caches</source>
        <translation>缓存磁盘空间</translation>
    </message>
    <message>
        <source>Drawn</source>
        <translation>随机</translation>
    </message>
    <message>
        <source>Empty takes one for each physical core.</source>
        <translation>留空则每个物理核心一个。</translation>
    </message>
    <message>
        <source>Engine</source>
        <translation>引擎</translation>
    </message>
    <message>
        <source>Exact (greedy)</source>
        <translation>精确（贪心）</translation>
    </message>
    <message>
        <source>Fewer bits are faster and smaller, and a little less exact.</source>
        <translation>位数越少越快越小，精度略低。</translation>
    </message>
    <message>
        <source>Font</source>
        <translation>字体</translation>
    </message>
    <message>
        <source>How much room there is around things.</source>
        <translation>元素周围留多少空间。</translation>
    </message>
    <message>
        <source>Icon in the tray</source>
        <translation>托盘图标</translation>
    </message>
    <message>
        <source>In GiB; the oldest go first when it is full.</source>
        <translation>单位 GiB；满时先删除最旧的。</translation>
    </message>
    <message>
        <source>In per cent of the device&apos;s memory; empty leaves enough for other programs.</source>
        <translation>占设备内存的百分比；留空则为其他程序保留足够内存。</translation>
    </message>
    <message>
        <source>In tokens; empty means until the context is full.</source>
        <translation>单位为词元；留空则直到上下文用满。</translation>
    </message>
    <message>
        <source>Keep caches on disk</source>
        <translation>在磁盘上保留缓存</translation>
    </message>
    <message>
        <source>Keep running in the tray</source>
        <translation>在托盘中继续运行</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Leave out its oldest turns, and mark them; or stop, and say so.</source>
        <translation>略去最早的轮次并标出；或停止并说明。</translation>
    </message>
    <message>
        <source>Leave out the oldest</source>
        <translation>略去最早的</translation>
    </message>
    <message>
        <source>Leaves out tokens less likely than this fraction of the likeliest.</source>
        <translation>排除概率低于最可能词元这一比例的词元。</translation>
    </message>
    <message>
        <source>Let the model name chats</source>
        <translation>由模型命名对话</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Light or dark, or as the system says.</source>
        <translation>浅色、深色，或跟随系统。</translation>
    </message>
    <message>
        <source>Load at the start</source>
        <translation>启动时加载</translation>
    </message>
    <message>
        <source>Longest answer</source>
        <translation>回答长度上限</translation>
    </message>
    <message>
        <source>Manner</source>
        <translation>风格</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Memory that Loquat may use</source>
        <translation>Loquat 可用的内存</translation>
    </message>
    <message>
        <source>Min p</source>
        <translation>Min p</translation>
    </message>
    <message>
        <source>Moss</source>
        <translation>苔绿</translation>
    </message>
    <message>
        <source>Most tokens of a chat; empty takes what the model and the memory allow.</source>
        <translation>一个对话的最多词元数；留空则取模型和内存允许的最大值。</translation>
    </message>
    <message>
        <source>NVIDIA GPU (CUDA)</source>
        <translation>NVIDIA GPU (CUDA)</translation>
    </message>
    <message>
        <source>No limit</source>
        <translation>不限</translation>
    </message>
    <message>
        <source>None</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Of everything but code; a serif is for what is read at length, messages and titles.</source>
        <translation>用于代码以外的一切；衬线体用于长时间阅读的消息和标题。</translation>
    </message>
    <message>
        <source>Of the window; models answer in the language they are asked in.</source>
        <translation>窗口的语言；模型用提问的语言回答。</translation>
    </message>
    <message>
        <source>Once a day Loquat asks its own site which version is the newest. It downloads nothing by itself.</source>
        <translation>Loquat 每天向自己的网站询问一次最新版本，不会自行下载任何内容。</translation>
    </message>
    <message>
        <source>Opens Loquat and asks quickly, on desktops that have a tray.</source>
        <translation>可打开 Loquat 和快速提问，适用于有托盘的桌面。</translation>
    </message>
    <message>
        <source>Read while you type</source>
        <translation>边输入边读取</translation>
    </message>
    <message>
        <source>Repetition penalty</source>
        <translation>重复惩罚</translation>
    </message>
    <message>
        <source>Rose</source>
        <translation>玫瑰</translation>
    </message>
    <message>
        <source>Said to the model before a new chat; chats that have begun keep theirs.</source>
        <translation>在新对话之前告诉模型；已开始的对话保持不变。</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>随机种子</translation>
    </message>
    <message>
        <source>Serif for reading</source>
        <translation>阅读用衬线体</translation>
    </message>
    <message>
        <source>Sets the five values below: exact repeats itself, the model&apos;s own is as its makers say.</source>
        <translation>设定下面五个值：“精确”可重现，“模型自带”按其制作者的建议。</translation>
    </message>
    <message>
        <source>Smaller ones let more of a chat fit into memory, a little less exactly.</source>
        <translation>越小则内存中能容纳越长的对话，精度略低。</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>系统提示词</translation>
    </message>
    <message>
        <source>Teal</source>
        <translation>青</translation>
    </message>
    <message>
        <source>Tell me about new versions</source>
        <translation>有新版本时告诉我</translation>
    </message>
    <message>
        <source>Tell when a long answer is done</source>
        <translation>长回答完成时通知</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>Text size</source>
        <translation>文字大小</translation>
    </message>
    <message>
        <source>The default</source>
        <translation>默认模型</translation>
    </message>
    <message>
        <source>The last used</source>
        <translation>上次使用的</translation>
    </message>
    <message>
        <source>The model of last time, the default one, or none until you choose.</source>
        <translation>上次的模型、默认模型，或者在你选择之前不加载。</translation>
    </message>
    <message>
        <source>The model&apos;s own</source>
        <translation>模型自带</translation>
    </message>
    <message>
        <source>The one colour for what is chosen, pressed or live.</source>
        <translation>表示选中、按下或进行中的唯一颜色。</translation>
    </message>
    <message>
        <source>The same seed gives the same answer; empty draws one each time.</source>
        <translation>同一种子得到同样的回答；留空则每次随机。</translation>
    </message>
    <message>
        <source>The system&apos;s</source>
        <translation>系统字体</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>主题</translation>
    </message>
    <message>
        <source>Top k</source>
        <translation>Top k</translation>
    </message>
    <message>
        <source>Top p</source>
        <translation>Top p</translation>
    </message>
    <message>
        <source>Violet</source>
        <translation>紫</translation>
    </message>
    <message>
        <source>Weight format</source>
        <translation>权重格式</translation>
    </message>
    <message>
        <source>What the model runs on; automatic takes the fastest there is.</source>
        <translation>模型在哪里运行；自动则选最快的。</translation>
    </message>
    <message>
        <source>What you have typed so far is read already, so the answer begins sooner. Not on battery.</source>
        <translation>提前读取已输入的内容，让回答更早开始。使用电池时不会。</translation>
    </message>
    <message>
        <source>When a chat outgrows the context</source>
        <translation>对话超出上下文时</translation>
    </message>
</context>
<context>
    <name>desktop</name>
    <message>
        <source>Loquat cannot keep its files in {folder}: {reason}.</source>
        <translation>Loquat 无法在 {folder} 中保存文件：{reason}。</translation>
    </message>
    <message>
        <source>Loquat is running already, but does not answer. Please close it and try again.</source>
        <translation>Loquat 已在运行，但没有响应。请关闭它后重试。</translation>
    </message>
</context>
<context>
    <name>dialogs</name>
    <message>
        <source>Address of the link</source>
        <translation>链接地址</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Copy address</source>
        <translation>复制地址</translation>
    </message>
    <message>
        <source>The address of this link</source>
        <translation>此链接的地址</translation>
    </message>
    <message>
        <source>Loquat opens web and mail addresses only. This one you can copy.</source>
        <translation>Loquat 只打开网页和邮件地址。此地址可以复制。</translation>
    </message>
    <message>
        <source>It opens in your browser, outside Loquat.</source>
        <translation>将在浏览器中打开，不在 Loquat 内。</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>格式</translation>
    </message>
    <message>
        <source>Mean NLL</source>
        <translation>平均 NLL</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Nothing was measured on this machine yet: `loquat bench formats` does it.</source>
        <translation>本机尚未测量：运行 `loquat bench formats` 即可测量。</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Open this link?</source>
        <translation>打开此链接？</translation>
    </message>
    <message>
        <source>Reading, tokens/s</source>
        <translation>读入，词元/秒</translation>
    </message>
    <message>
        <source>Writing, tokens/s</source>
        <translation>写出，词元/秒</translation>
    </message>
    <message>
        <source>{model}, on this machine:</source>
        <translation>{model} 在本机上：</translation>
    </message>
</context>
<context>
    <name>drop_hint</name>
    <message>
        <source>Drop it to use this model</source>
        <translation>放下以使用此模型</translation>
    </message>
    <message>
        <source>Drop to attach</source>
        <translation>放下以附加</translation>
    </message>
</context>
<context>
    <name>edit_box</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Ctrl+Enter sends</source>
        <translation>Ctrl+Enter 发送</translation>
    </message>
    <message>
        <source>Ctrl+Enter sends, Esc keeps it as it was</source>
        <translation>Ctrl+Enter 发送，Esc 保持原样</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>发送</translation>
    </message>
    <message>
        <source>Your question in other words</source>
        <translation>换一种说法的问题</translation>
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
        <source>A saved chat cache does not fit this model and is not used.</source>
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
        <source>Something went wrong inside Loquat; the chat is saved, and asking again may work.</source>
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
        <source>The chat has become longer than the {0} tokens this model can read.</source>
        <translation>对话已超过此模型能读取的 {0} 个词元。</translation>
    </message>
    <message>
        <source>The chat is longer than the {0} tokens this model can read.</source>
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
        <source>A model on a server answers chats only; choose a model on this machine for this.</source>
        <translation>服务器上的模型只能回答对话；请为此选择这台电脑上的模型。</translation>
    </message>
    <message>
        <source>A token takes {0} ms, of which reading memory would take {1} ms: the rest is the overhead of starting many small operations, and computing.</source>
        <translation>每个词元耗时 {0} 毫秒，其中读取内存只需 {1} 毫秒：其余是启动大量小运算的开销和计算。</translation>
    </message>
    <message>
        <source>Asking {0} for {1}</source>
        <translation>正在向 {0} 请求 {1}</translation>
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
        <source>Its cache was not held any more; more memory or disk for caches keeps more of them.</source>
        <translation>其缓存已不再保留；为缓存分配更多内存或磁盘，可保留更多。</translation>
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
        <source>The model {0} lacks some of its weights; remove it and add it again.</source>
        <translation>模型 {0} 缺少部分权重；请移除后重新添加。</translation>
    </message>
    <message>
        <source>The model {0} needs code of its own, which Loquat does not run.</source>
        <translation>模型 {0} 需要运行自带代码，Loquat 不会运行。</translation>
    </message>
    <message>
        <source>The model&apos;s chat template refuses this chat: {0}.</source>
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
        <source>There is no room for {0} with {1} in {2}; the largest that fits is {3}.</source>
        <translation>在{2}中，{1} 没有空间容纳 {0}；能容纳的最大配置是 {3}。</translation>
    </message>
    <message>
        <source>Tools can be called, in the form of {0}.</source>
        <translation>可以调用工具，格式为 {0}。</translation>
    </message>
    <message>
        <source>Trying the chat template of {0}</source>
        <translation>正在试用 {0} 的聊天模板</translation>
    </message>
    <message>
        <source>Unpacking torch for NVIDIA GPUs</source>
        <translation>正在解压用于 NVIDIA GPU 的 torch</translation>
    </message>
    <message>
        <source>Verifying {0}: {1} %</source>
        <translation>正在校验 {0}：{1} %</translation>
    </message>
    <message>
        <source>Weights cannot be held as {0}; choose one of {1}.</source>
        <translation>权重不能以 {0} 形式保存；请选择 {1} 之一。</translation>
    </message>
    <message>
        <source>Well-written answers in English, up to 8,192 tokens of context.</source>
        <translation>文笔好的英语回答，上下文最多 8,192 个词元。</translation>
    </message>
    <message>
        <source>What {0} says of its quantisation makes no sense; get the model again.</source>
        <translation>{0} 中的量化说明不合理；请重新获取该模型。</translation>
    </message>
    <message>
        <source>Your access token may not read {0}; allow it to read gated and private models at {1}, or add another one with: {2}</source>
        <translation>您的访问令牌无权读取 {0}；请在 {1} 允许它读取受限和私有模型，或用以下命令添加另一个令牌：{2}</translation>
    </message>
    <message>
        <source>Your account may not download {0} yet; accept its terms at {1}, wait until they are confirmed if its owner looks at each request, and get it again.</source>
        <translation>您的账户还不能下载 {0}；请在 {1} 接受其条款；如果所有者逐一审核请求，请等待确认，然后重新获取。</translation>
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
        <source>it does not say why.</source>
        <translation>没有说明原因。</translation>
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
        <source> for {0}</source>
        <translation>（用于 {0}）</translation>
    </message>
    <message>
        <source>A 4-bit format would be {0} times faster.</source>
        <translation>改用 4 位格式，速度会是现在的 {0} 倍。</translation>
    </message>
    <message>
        <source>A file of {0} is not on the hub any more; {1}</source>
        <translation>{0} 的一个文件已不在模型库中；{1}</translation>
    </message>
    <message>
        <source>A good first model for a laptop: conversation, translation and summaries in many languages.</source>
        <translation>适合笔记本电脑的第一个模型：多种语言的对话、翻译和摘要。</translation>
    </message>
    <message>
        <source>A limit on this program or its container, or other virtual machines on the same host, cause this.</source>
        <translation>原因是对此程序或其容器的限制，或同一主机上的其他虚拟机。</translation>
    </message>
    <message>
        <source>A longer answer would tell more.</source>
        <translation>更长的回答能说明更多。</translation>
    </message>
    <message>
        <source>A longer conversation&apos;s prompt begins with the shorter one&apos;s: what was read once stays.</source>
        <translation>较长对话的提示词以较短对话的提示词开头：读过一次的内容会保留。</translation>
    </message>
    <message>
        <source>A model cannot draft for itself; choose a smaller one of the same family.</source>
        <translation>模型不能为自己起草；请选择同一系列中较小的模型。</translation>
    </message>
    <message>
        <source>A model of this kind can go back to a few places only, and an edit lies between them.</source>
        <translation>这类模型只能退回到少数几个位置，而编辑处在它们之间。</translation>
    </message>
    <message>
        <source>A reply ends with {0}.</source>
        <translation>回答以 {0} 结束。</translation>
    </message>
    <message>
        <source>A shorter text would be read sooner; the next question reuses what was read now.</source>
        <translation>较短的文本读得更快；下一个问题会复用现在读取的内容。</translation>
    </message>
    <message>
        <source>A smaller model is faster; so are more processors, where there are any left.</source>
        <translation>更小的模型会更快；如有空闲的处理器，多用几个也会更快。</translation>
    </message>
    <message>
        <source>A system message becomes a part of the first question.</source>
        <translation>系统消息会成为第一个问题的一部分。</translation>
    </message>
    <message>
        <source>A system message has a role of its own.</source>
        <translation>系统消息有自己的角色。</translation>
    </message>
    <message>
        <source>A token takes {0} ms, of which reading memory would take {1} ms: decode is bound by computing, not by memory.</source>
        <translation>每个词元耗时 {0} 毫秒，其中读取内存只需 {1} 毫秒：解码受限于计算，而非内存。</translation>
    </message>
    <message>
        <source>Adapters are merged into weights that are held as floats on one device; switch them off, or choose a 16-bit format.</source>
        <translation>适配器只能并入单个设备上的浮点权重；请关闭适配器，或选择 16 位格式。</translation>
    </message>
    <message>
        <source>An all-rounder for conversation, writing and tools, well known and well tested.</source>
        <translation>对话、写作和工具的全能型，广为人知，久经检验。</translation>
    </message>
    <message>
        <source>An earlier message was edited, and everything after it had to be read again.</source>
        <translation>较早的一条消息被编辑，其后的内容都要重新读取。</translation>
    </message>
    <message>
        <source>Another version of a message was chosen, and everything after it had to be read again.</source>
        <translation>选择了某条消息的另一个版本，其后的内容都要重新读取。</translation>
    </message>
    <message>
        <source>As it came, its mean NLL over {0} tokens is {1}; packed in {2} for the CPU, {3} ({4} %).</source>
        <translation>原本的形式在 {0} 个词元上的平均 NLL 为 {1}；为 CPU 打包为 {2} 后为 {3}（{4} %）。</translation>
    </message>
    <message>
        <source>Caches of other chats, {0}, were written to disk to make room.</source>
        <translation>为腾出空间，其他对话的缓存（{0}）写入了磁盘。</translation>
    </message>
    <message>
        <source>Careful answers, long texts and code, for a machine with 16 GB or more.</source>
        <translation>细致的回答、长文本和代码，需要 16 GB 以上内存。</translation>
    </message>
    <message>
        <source>Chats are written in Loquat&apos;s plain form, as you chose.</source>
        <translation>按您的选择，对话以 Loquat 的简单格式书写。</translation>
    </message>
    <message>
        <source>Checking what is here of torch</source>
        <translation>正在检查已下载的 torch</translation>
    </message>
    <message>
        <source>Checking what is here of {0}: {1} %</source>
        <translation>正在检查已下载的 {0}：{1} %</translation>
    </message>
    <message>
        <source>Clear explanations and writing in English.</source>
        <translation>清楚的英语解释和写作。</translation>
    </message>
    <message>
        <source>Close other programs, limit the memory for caches, or choose a smaller model.</source>
        <translation>请关闭其他程序、限制缓存内存，或选择更小的模型。</translation>
    </message>
    <message>
        <source>Close what else computes on this machine, or give Loquat fewer threads than there are processors.</source>
        <translation>请关闭此电脑上的其他计算任务，或让 Loquat 的线程数少于处理器数。</translation>
    </message>
    <message>
        <source>Conversation and tools in the large European languages, under a free licence.</source>
        <translation>主要欧洲语言的对话和工具，许可证自由。</translation>
    </message>
    <message>
        <source>Conversation and translation in very many languages; pictures are not read.</source>
        <translation>非常多语言的对话和翻译；不读图片。</translation>
    </message>
    <message>
        <source>Conversation in six European languages, with thinking before the answer if wanted.</source>
        <translation>六种欧洲语言的对话，需要时可先思考再回答。</translation>
    </message>
    <message>
        <source>Conversation, structured text and code in many languages, with little memory for long chats.</source>
        <translation>多种语言的对话、结构化文本和代码，长对话占内存少。</translation>
    </message>
    <message>
        <source>Decode is bound by memory bandwidth: {0} per token at {1} of {2} GB/s.</source>
        <translation>解码受限于内存带宽：每个词元读取 {0}，速度 {1} GB/s，上限 {2} GB/s。</translation>
    </message>
    <message>
        <source>Demanding questions, code and tools in many languages, with or without thinking.</source>
        <translation>多种语言的难题、代码和工具，可思考也可不思考。</translation>
    </message>
    <message>
        <source>Downloading torch for NVIDIA GPUs: {0} of {1}</source>
        <translation>正在下载用于 NVIDIA GPU 的 torch：{0} / {1}</translation>
    </message>
    <message>
        <source>Downloading {0}: {1}</source>
        <translation>正在下载 {0}：{1}</translation>
    </message>
    <message>
        <source>Downloading {0}: {1} of {2}</source>
        <translation>正在下载 {0}：{1}，共 {2}</translation>
    </message>
    <message>
        <source>Each token reads {0}, at {1} a second.</source>
        <translation>每个词元读取 {0}，速度为每秒 {1}。</translation>
    </message>
    <message>
        <source>Estimated from its size alone.</source>
        <translation>仅按其大小估计。</translation>
    </message>
    <message>
        <source>Everyday conversation, writing and summaries of long texts.</source>
        <translation>日常对话、写作和长文摘要。</translation>
    </message>
    <message>
        <source>Faster kernels took over once they were compiled; their cache has another format.</source>
        <translation>更快的内核编译完成后已接手；其缓存格式不同。</translation>
    </message>
    <message>
        <source>Fluent writing and translation in very many languages; pictures are not read.</source>
        <translation>非常多语言的流畅写作和翻译；不读图片。</translation>
    </message>
    <message>
        <source>HF_ENDPOINT is no http address; let it begin with https://, or remove it from the environment.</source>
        <translation>HF_ENDPOINT 不是 http 地址；请让它以 https:// 开头，或从环境变量中删除它。</translation>
    </message>
    <message>
        <source>Hard reasoning, mathematics and science in English, for a machine with 16 GB or more.</source>
        <translation>英语的高难度推理、数学和科学，需要 16 GB 以上内存。</translation>
    </message>
    <message>
        <source>In portable mode the key is kept only until Loquat is closed.</source>
        <translation>在便携模式下，密钥只保留到 Loquat 关闭为止。</translation>
    </message>
    <message>
        <source>It stays loaded: the next answer does not wait for it.</source>
        <translation>模型保持加载：下一个回答无需等待。</translation>
    </message>
    <message>
        <source>It was the first answer since the model was loaded: {0} pages of memory had to be read from disk, about {1} or {2} of the time.</source>
        <translation>这是加载模型后的第一个回答：{0} 页内存要从磁盘读取，约 {1}，占时间的 {2}。</translation>
    </message>
    <message>
        <source>JSON as wide as that is not allowed</source>
        <translation>不允许缩进这么宽的 JSON</translation>
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
        <source>Loquat cannot listen on {0}, port {1}: {2}.</source>
        <translation>Loquat 无法在 {0} 的端口 {1} 上监听：{2}。</translation>
    </message>
    <message>
        <source>Loquat cannot use this kind of proxy; set an HTTP proxy in the environment, or none.</source>
        <translation>Loquat 无法使用这种代理；请在环境中设置 HTTP 代理，或不设代理。</translation>
    </message>
    <message>
        <source>Mathematics, code and tools by thinking first; strong for its size.</source>
        <translation>先思考再解数学、写代码、用工具；在同等大小中很强。</translation>
    </message>
    <message>
        <source>Measuring what this machine can do, once; that takes some seconds.</source>
        <translation>正在测量这台机器的性能，仅此一次，需要几秒钟。</translation>
    </message>
    <message>
        <source>Measuring what {0} says of a text</source>
        <translation>正在用一段文字衡量 {0}</translation>
    </message>
    <message>
        <source>Memory is short: {0} pages had to be read back from disk, about {1} or {2} of the time.</source>
        <translation>内存不足：{0} 页要从磁盘读回，约 {1}，占时间的 {2}。</translation>
    </message>
    <message>
        <source>Most of the time went into reading {0} new tokens: {1}, {2} tokens a second of the {3} that this machine computes.</source>
        <translation>大部分时间用于读取 {0} 个新词元：{1}，每秒 {2} 个词元，此电脑可达 {3} 个。</translation>
    </message>
    <message>
        <source>Most of the time went into reading {0} new tokens: {1}, {2} tokens a second.</source>
        <translation>大部分时间用于读取 {0} 个新词元：{1}，每秒 {2} 个词元。</translation>
    </message>
    <message>
        <source>Nothing answers at {0}; start the server there, or check its address.</source>
        <translation>{0} 没有应答；请在那里启动服务器，或检查其地址。</translation>
    </message>
    <message>
        <source>Office work on long texts: summaries, extraction, tools and code.</source>
        <translation>处理长文本的办公：摘要、提取、工具和代码。</translation>
    </message>
    <message>
        <source>Office work: summaries, extraction and tools, with a long context.</source>
        <translation>办公：摘要、提取和工具，上下文很长。</translation>
    </message>
    <message>
        <source>One answer is written at a time; stop the other one, or wait for it.</source>
        <translation>一次只能生成一个回答；请停止另一个，或等待它完成。</translation>
    </message>
    <message>
        <source>One token came {0} ms after the one before it: {1} of the time was that wait.</source>
        <translation>有一个词元在前一个之后 {0} 毫秒才出现：这段等待占时间的 {1}。</translation>
    </message>
    <message>
        <source>Other programs used {0} of the processors and held this answer up for about {1}.</source>
        <translation>其他程序占用了 {0} 的处理器，使此回答延迟约 {1}。</translation>
    </message>
    <message>
        <source>Other programs used {0} of {1} processors.</source>
        <translation>其他程序占用了 {1} 个处理器中的 {0} 个。</translation>
    </message>
    <message>
        <source>Plain English conversation, rewriting and summaries; its memory of a chat costs much.</source>
        <translation>简单的英语对话、改写和摘要；记住对话很占内存。</translation>
    </message>
    <message>
        <source>Port {0} is taken by another program; choose another port.</source>
        <translation>端口 {0} 已被其他程序占用；请选择其他端口。</translation>
    </message>
    <message>
        <source>Port {0} may not be used by this account; take one above 1,023.</source>
        <translation>此帐户不能使用端口 {0}；请选择大于 1,023 的端口。</translation>
    </message>
    <message>
        <source>Programs on other machines can reach {0}, so an API key is needed; give one, or serve on 127.0.0.1.</source>
        <translation>其他电脑上的程序可以访问 {0}，因此需要 API 密钥；请设置一个，或在 127.0.0.1 上提供服务。</translation>
    </message>
    <message>
        <source>Python collected garbage for {0} ms.</source>
        <translation>Python 垃圾回收用了 {0} 毫秒。</translation>
    </message>
    <message>
        <source>Quick short answers in many languages; makes larger Qwen2.5 models faster as their draft.</source>
        <translation>用多种语言快速简短地回答；可作为草稿模型让更大的 Qwen2.5 更快。</translation>
    </message>
    <message>
        <source>Reasoning, code and mathematics; its memory of a chat costs much.</source>
        <translation>推理、代码和数学；记住对话很占内存。</translation>
    </message>
    <message>
        <source>Replaying the step as a graph removes most of it, where this model allows it.</source>
        <translation>若此模型允许，以计算图重放该步骤可消除大部分开销。</translation>
    </message>
    <message>
        <source>Rewriting and short summaries in English on the smallest machines.</source>
        <translation>在最小的电脑上改写英文和写简短摘要。</translation>
    </message>
    <message>
        <source>Say which model is wanted: a name from `loquat models catalogue`, or OWNER/NAME for another on the hub.</source>
        <translation>请说明需要哪个模型：`loquat models catalogue` 中的名称，或用 OWNER/NAME 指定模型站上的其他模型。</translation>
    </message>
    <message>
        <source>Short English texts and summaries, with little memory for long chats.</source>
        <translation>简短的英语文本和摘要，长对话占内存少。</translation>
    </message>
    <message>
        <source>Solid answers, code and mathematics in many languages.</source>
        <translation>用多种语言可靠地回答，擅长代码和数学。</translation>
    </message>
    <message>
        <source>Something else comes in the place of {0}; see whether your network wants a login in the browser first, and get the model again, it goes on.</source>
        <translation>收到的不是 {0}；请检查网络是否需要先在浏览器中登录，然后重新获取模型，下载会继续。</translation>
    </message>
    <message>
        <source>Sorting, extracting and other small fixed tasks, at great speed.</source>
        <translation>分类、提取等固定的小任务，速度很快。</translation>
    </message>
    <message>
        <source>Step-by-step reasoning, mathematics and tools in 23 languages.</source>
        <translation>用 23 种语言逐步推理、解数学、用工具。</translation>
    </message>
    <message>
        <source>Summaries and rewriting in eight languages on small machines.</source>
        <translation>在小型电脑上用八种语言写摘要和改写。</translation>
    </message>
    <message>
        <source>That is no access token; copy it once more from the settings of your account.</source>
        <translation>这不是访问令牌；请在账户设置中重新复制。</translation>
    </message>
    <message>
        <source>That is too long for a model&apos;s name; use at most {0} characters.</source>
        <translation>模型名称太长；最多使用 {0} 个字符。</translation>
    </message>
    <message>
        <source>The 4-bit and 8-bit formats run in compiled code, which has next to none.</source>
        <translation>4 位和 8 位格式在编译代码中运行，几乎没有这种开销。</translation>
    </message>
    <message>
        <source>The GPU failed ({0}); the model now runs on the CPU, so ask again.</source>
        <translation>GPU 出错（{0}）；模型现在在 CPU 上运行，请重新提问。</translation>
    </message>
    <message>
        <source>The JSON schema cannot be used: {0}.</source>
        <translation>无法使用该 JSON 模式：{0}。</translation>
    </message>
    <message>
        <source>The KV cache moved to a larger place, {0} in all.</source>
        <translation>KV 缓存移到了更大的空间，共 {0}。</translation>
    </message>
    <message>
        <source>The adapter {0} brings {1} of its own, which Loquat cannot merge.</source>
        <translation>适配器 {0} 自带{1}，Loquat 无法合并。</translation>
    </message>
    <message>
        <source>The adapter {0} cannot be read; switch it off or add it again.</source>
        <translation>无法读取适配器 {0}；请关闭它或重新添加。</translation>
    </message>
    <message>
        <source>The adapter {0} changes biases too, which Loquat cannot merge.</source>
        <translation>适配器 {0} 还修改了偏置，Loquat 无法合并。</translation>
    </message>
    <message>
        <source>The adapter {0} chooses matrices by a pattern that Loquat does not read ({1}).</source>
        <translation>适配器 {0} 用 Loquat 不支持的模式来选择矩阵（{1}）。</translation>
    </message>
    <message>
        <source>The adapter {0} counts only behind certain words, so it cannot be merged.</source>
        <translation>适配器 {0} 只在特定文字之后起作用，因此无法合并。</translation>
    </message>
    <message>
        <source>The adapter {0} does not fit this model: {1}. Add it to that one.</source>
        <translation>适配器 {0} 不适合这个模型：{1}。请把它添加到对应的模型。</translation>
    </message>
    <message>
        <source>The adapter {0} holds something besides LoRA matrices, which Loquat cannot merge.</source>
        <translation>适配器 {0} 含有 LoRA 矩阵以外的内容，Loquat 无法合并。</translation>
    </message>
    <message>
        <source>The adapter {0} holds what is no number; get it again.</source>
        <translation>适配器 {0} 含有不是数字的值；请重新获取。</translation>
    </message>
    <message>
        <source>The adapter {0} holds what is no number; switch it off or get it again.</source>
        <translation>适配器 {0} 含有不是数字的值；请关闭它或重新获取。</translation>
    </message>
    <message>
        <source>The adapter {0} is damaged ({1} has another shape); get it again.</source>
        <translation>适配器 {0} 已损坏（{1} 的形状不对）；请重新获取。</translation>
    </message>
    <message>
        <source>The adapter {0} is damaged ({1}); get it again.</source>
        <translation>适配器 {0} 已损坏（{1}）；请重新获取。</translation>
    </message>
    <message>
        <source>The adapter {0} is of the kind {1}; Loquat merges LoRA adapters only.</source>
        <translation>适配器 {0} 属于 {1} 类型；Loquat 只能合并 LoRA 适配器。</translation>
    </message>
    <message>
        <source>The adapter {0} of {1} cannot be read; switch it off, or remove it and add it again.</source>
        <translation>无法读取 {1} 的适配器 {0}；请关闭它，或删除后重新添加。</translation>
    </message>
    <message>
        <source>The adapter {0} was trained on weights that were changed for it ({1}); get it converted to plain LoRA.</source>
        <translation>适配器 {0} 是在为它修改过的权重上训练的（{1}）；请获取已转换为普通 LoRA 的版本。</translation>
    </message>
    <message>
        <source>The address holds a name or a password; please put the key into its own field.</source>
        <translation>地址中含有用户名或密码；请把密钥填到单独的栏中。</translation>
    </message>
    <message>
        <source>The address holds a space; please correct it.</source>
        <translation>地址中含有空格；请更正。</translation>
    </message>
    <message>
        <source>The address must begin with https:// or http://; please write it with that.</source>
        <translation>地址必须以 https:// 或 http:// 开头；请补上。</translation>
    </message>
    <message>
        <source>The address must end with its path, like https://gpu.example/v1; please leave the rest out.</source>
        <translation>地址必须以路径结尾，例如 https://gpu.example/v1；请去掉其余部分。</translation>
    </message>
    <message>
        <source>The answer is too short to say what its speed was bound by.</source>
        <translation>回答太短，无法判断其速度受什么限制。</translation>
    </message>
    <message>
        <source>The cache of another model or format cannot be used; it is built once for this one.</source>
        <translation>无法使用其他模型或格式的缓存；要为当前模型重新建立一次。</translation>
    </message>
    <message>
        <source>The certificate of {0} cannot be verified; check this computer&apos;s clock, and if your network has a certificate of its own, name its file in SSL_CERT_FILE.</source>
        <translation>无法验证 {0} 的证书；请检查本机时钟；如果您的网络使用自己的证书，请在 SSL_CERT_FILE 中指定其文件。</translation>
    </message>
    <message>
        <source>The chat template ends a reply with {0}, which the model&apos;s files do not name as an end: replies may not stop.</source>
        <translation>聊天模板用 {0} 结束回答，但模型文件没有把它列为结束标记：回答可能停不下来。</translation>
    </message>
    <message>
        <source>The chat template leaves the thinking out of earlier replies; Loquat keeps it, so that nothing is read twice.</source>
        <translation>聊天模板会从之前的回答中去掉思考内容；Loquat 会保留它，这样就不必重复读取。</translation>
    </message>
    <message>
        <source>The chat template of the model {0} cannot be used: {1}. To chat with it in Loquat&apos;s plain form, run: loquat models check {2} --use-plain-template</source>
        <translation>模型 {0} 的聊天模板无法使用：{1}。若要用 Loquat 的简单格式与它对话，请运行：loquat models check {2} --use-plain-template</translation>
    </message>
    <message>
        <source>The chat template takes no system message; Loquat puts it in front of the first question.</source>
        <translation>聊天模板不接受系统消息；Loquat 会把它放在第一个问题之前。</translation>
    </message>
    <message>
        <source>The chat template writes calls of tools in a way that Loquat does not read; tools are refused.</source>
        <translation>聊天模板书写工具调用的方式 Loquat 无法读取；工具会被拒绝。</translation>
    </message>
    <message>
        <source>The chat template writes earlier messages differently as a conversation grows, so that more has to be read again at each question.</source>
        <translation>随着对话变长，聊天模板会改写之前的消息，因此每次提问都要重新读取更多内容。</translation>
    </message>
    <message>
        <source>The connection for torch broke off; {0}</source>
        <translation>下载 torch 的连接中断；{0}</translation>
    </message>
    <message>
        <source>The connection for torch ended early; {0}</source>
        <translation>下载 torch 的连接提前结束；{0}</translation>
    </message>
    <message>
        <source>The connection to the hub ended early; get the model again, it goes on where it stopped.</source>
        <translation>与模型库的连接提前结束；请重新获取模型，下载会从中断处继续。</translation>
    </message>
    <message>
        <source>The connection to {0} broke off in the middle of the answer; what came is kept, try again.</source>
        <translation>回答途中与 {0} 的连接断开了；已收到的内容已保留，请重试。</translation>
    </message>
    <message>
        <source>The connection to {0} broke off; get the model again, it goes on where it stopped.</source>
        <translation>与 {0} 的连接中断；请重新获取模型，下载会从中断处继续。</translation>
    </message>
    <message>
        <source>The connection to {0} failed; check the network and whether the server runs.</source>
        <translation>无法连接 {0}；请检查网络，并确认服务器正在运行。</translation>
    </message>
    <message>
        <source>The context is full, so the oldest turns were left out; a new chat starts afresh.</source>
        <translation>上下文已满，因此略去了最早的轮次；新对话会重新开始。</translation>
    </message>
    <message>
        <source>The disk is full: there was no room to {0} in {1}; free some space and try again.</source>
        <translation>磁盘已满：{1} 中没有空间来{0}；请腾出空间后重试。</translation>
    </message>
    <message>
        <source>The encryption of {0} cannot be trusted; check the address, or the server&apos;s certificate.</source>
        <translation>{0} 的加密不可信；请检查地址或服务器的证书。</translation>
    </message>
    <message>
        <source>The engine computed for {0} ms only; the rest of the time it waited.</source>
        <translation>引擎只计算了 {0} 毫秒；其余时间都在等待。</translation>
    </message>
    <message>
        <source>The engine was not asked for the next token for {0} ms.</source>
        <translation>有 {0} 毫秒没有向引擎请求下一个词元。</translation>
    </message>
    <message>
        <source>The file {0} arrived damaged; trying once more</source>
        <translation>文件 {0} 下载后已损坏；正在重试</translation>
    </message>
    <message>
        <source>The file {0} holds numbers of a kind that Loquat does not know ({1}).</source>
        <translation>文件 {0} 中有 Loquat 不认识的数值类型（{1}）。</translation>
    </message>
    <message>
        <source>The file {0} is a Python pickle, which can run any program when it is loaded; get a model with safetensors or GGUF files.</source>
        <translation>文件 {0} 是 Python pickle，加载时可以运行任意程序；请获取带有 safetensors 或 GGUF 文件的模型。</translation>
    </message>
    <message>
        <source>The file {0} is in truth part {1} of its model; give the parts back the names they came with.</source>
        <translation>文件 {0} 其实是其模型的第 {1} 部分；请把各部分改回原来的文件名。</translation>
    </message>
    <message>
        <source>The file {0} is no part of this model; get it again.</source>
        <translation>文件 {0} 不是此模型的一部分；请重新获取。</translation>
    </message>
    <message>
        <source>The file {0} is one of {1} parts of a model; give it back the name it came with, which ends in its number, and put the other parts beside it.</source>
        <translation>文件 {0} 是某个模型的 {1} 个部分之一；请改回原来以编号结尾的文件名，并把其余部分放在同一文件夹。</translation>
    </message>
    <message>
        <source>The file {0} of {1} arrived twice with contents that are not those the hub speaks of; get the model again later, or name another mirror in HF_ENDPOINT.</source>
        <translation>{1} 的文件 {0} 两次下载的内容都与模型库所述不符；请稍后重新获取模型，或在 HF_ENDPOINT 中指定另一个镜像。</translation>
    </message>
    <message>
        <source>The files of {0} are laid out in a way that Loquat does not know; get another.</source>
        <translation>{0} 的文件布局是 Loquat 不认识的；请获取其他模型。</translation>
    </message>
    <message>
        <source>The folder {0} holds no model, but an adapter; add it to the model that it is for, with: loquat models adapter add MODEL FOLDER.</source>
        <translation>文件夹 {0} 中是适配器，不是模型；请用此命令把它添加到对应的模型：loquat models adapter add MODEL FOLDER。</translation>
    </message>
    <message>
        <source>The folder {0} holds no {1}, so it is no adapter; give the one that does.</source>
        <translation>文件夹 {0} 中没有 {1}，因此不是适配器；请给出正确的文件夹。</translation>
    </message>
    <message>
        <source>The folder {0} holds {1} GGUF models; give the file of one of them, for example {2}.</source>
        <translation>文件夹 {0} 中有 {1} 个 GGUF 模型；请指定其中一个的文件，例如 {2}。</translation>
    </message>
    <message>
        <source>The host gave {0} ms of processor time to other virtual machines.</source>
        <translation>主机把 {0} 毫秒的处理器时间给了其他虚拟机。</translation>
    </message>
    <message>
        <source>The hub at {0} does not answer any more; get the model again later, it goes on.</source>
        <translation>模型库 {0} 不再响应；请稍后重新获取模型，下载会继续。</translation>
    </message>
    <message>
        <source>The hub at {0} is asked too often from here; get the model again {1}, it goes on.</source>
        <translation>此处对模型库 {0} 的请求过于频繁；请在{1}后重新获取模型，下载会继续。</translation>
    </message>
    <message>
        <source>The hub at {0} is out of order (HTTP {1}); get the model again later, it goes on.</source>
        <translation>模型库 {0} 出现故障（HTTP {1}）；请稍后重新获取模型，下载会继续。</translation>
    </message>
    <message>
        <source>The hub at {0} refuses to give {1} (HTTP {2}); try again later, or get another model.</source>
        <translation>模型库 {0} 拒绝提供 {1}（HTTP {2}）；请稍后重试，或获取其他模型。</translation>
    </message>
    <message>
        <source>The hub cannot be reached; trying again in {0} s</source>
        <translation>无法连接到模型库；{0} 秒后重试</translation>
    </message>
    <message>
        <source>The hub does not accept your access token; make a new one at {0} and add it with: {1}</source>
        <translation>模型库不接受您的访问令牌；请在 {0} 新建一个，并用以下命令添加：{1}</translation>
    </message>
    <message>
        <source>The hub does not give it now; trying again in {0} s</source>
        <translation>模型库目前没有提供；{0} 秒后重试</translation>
    </message>
    <message>
        <source>The hub has another file in the place of {0} than Loquat&apos;s catalogue knows; check HF_ENDPOINT, or get the model from another repository.</source>
        <translation>模型库中的 {0} 与 Loquat 目录所知的不是同一个文件；请检查 HF_ENDPOINT，或从其他仓库获取模型。</translation>
    </message>
    <message>
        <source>The hub tells no checksums for {0}, so what came could not be verified.</source>
        <translation>模型库没有给出 {0} 的校验和，因此无法验证下载的内容。</translation>
    </message>
    <message>
        <source>The key holds characters that no key has; type it in once more.</source>
        <translation>密钥中含有不可能出现的字符；请重新输入。</translation>
    </message>
    <message>
        <source>The list of servers in {0} cannot be read; move it away and add your servers again.</source>
        <translation>无法读取服务器列表 {0}；请移走该文件，再重新添加服务器。</translation>
    </message>
    <message>
        <source>The model can think before it answers, or be asked not to.</source>
        <translation>该模型可以先思考再回答，也可以要求它不思考。</translation>
    </message>
    <message>
        <source>The model thinks before it answers.</source>
        <translation>该模型会先思考再回答。</translation>
    </message>
    <message>
        <source>The model was loaded first, which took {0}, {1} of the time.</source>
        <translation>先加载了模型，用时 {0}，占时间的 {1}。</translation>
    </message>
    <message>
        <source>The model {0} comes from a newer version of Loquat; update Loquat to use it.</source>
        <translation>模型 {0} 来自更新版本的 Loquat；请更新 Loquat 后再使用。</translation>
    </message>
    <message>
        <source>The model {0} does not say how many tokens it knows; get it again.</source>
        <translation>模型 {0} 没有说明它认识多少个词元；请重新获取。</translation>
    </message>
    <message>
        <source>The model {0} has groups of {1} in rows of {2} ({3}), which do not fit; get the model again.</source>
        <translation>模型 {0} 在长度为 {2} 的行中使用 {1} 个一组（{3}），两者不符；请重新获取该模型。</translation>
    </message>
    <message>
        <source>The model {0} has {1} groups in rows of {2} ({3}), which do not fit; get the model again.</source>
        <translation>模型 {0} 在长度为 {2} 的行中有 {1} 组（{3}），两者不符；请重新获取该模型。</translation>
    </message>
    <message>
        <source>The model {0} is a base model: it continues texts and has no chat template. To chat with it in Loquat&apos;s plain form, run: loquat models check {1} --use-plain-template</source>
        <translation>模型 {0} 是基础模型：它会续写文本，没有聊天模板。若要用 Loquat 的简单格式与它对话，请运行：loquat models check {1} --use-plain-template</translation>
    </message>
    <message>
        <source>The model {0} is a base model: it continues texts and was not taught to chat. Loquat can talk with it in a plain form, if you agree.</source>
        <translation>模型 {0} 是基础模型：它会续写文本，没有学过聊天。如果您同意，Loquat 可以用简单格式与它对话。</translation>
    </message>
    <message>
        <source>The model {0} is of the architecture {1}, which is not supported; get another model.</source>
        <translation>模型 {0} 的架构是 {1}，尚不支持；请获取其他模型。</translation>
    </message>
    <message>
        <source>The model {0} is quantised by GPTQ in {1} bits ({2}), and only 4 and 8 are supported; get it in one of these, or as a GGUF.</source>
        <translation>模型 {0} 用 GPTQ 量化为 {1} 位（{2}），而仅支持 4 位和 8 位；请获取其中之一，或 GGUF 文件。</translation>
    </message>
    <message>
        <source>The model {0} is quantised by {1}, which is not supported; get it as GPTQ, AWQ or bitsandbytes, unquantised, or as a GGUF.</source>
        <translation>模型 {0} 用 {1} 量化，尚不支持；请获取其 GPTQ、AWQ 或 bitsandbytes 版本、未量化版本，或 GGUF 文件。</translation>
    </message>
    <message>
        <source>The model {0} is stored as AWQ {1} in {2} bits, and only gemm in 4 bits is supported; get it in that format, or as a GGUF.</source>
        <translation>模型 {0} 以 AWQ {1}、{2} 位保存，而仅支持 4 位的 gemm；请获取该格式的版本，或 GGUF 文件。</translation>
    </message>
    <message>
        <source>The model {0} is stored as compressed-tensors {1} ({2}), which is not supported; get it as GPTQ, AWQ or bitsandbytes, unquantised, or as a GGUF.</source>
        <translation>模型 {0} 以 compressed-tensors {1}（{2}）保存，尚不支持；请获取其 GPTQ、AWQ 或 bitsandbytes 版本、未量化版本，或 GGUF 文件。</translation>
    </message>
    <message>
        <source>The model {0} is stored in the GPTQ format {1}, which only some GPUs read; get it in the plain GPTQ format, or as a GGUF.</source>
        <translation>模型 {0} 以 GPTQ 格式 {1} 保存，只有部分 GPU 能读取；请获取普通 GPTQ 格式的版本，或 GGUF 文件。</translation>
    </message>
    <message>
        <source>The model {0} is stored in the order of one kind of GPU ({1}), which is not supported; get it unquantised, or as a GGUF.</source>
        <translation>模型 {0} 按某种 GPU 的顺序保存（{1}），尚不支持；请获取未量化版本，或 GGUF 文件。</translation>
    </message>
    <message>
        <source>The model {0} lacks a part of its quantised weights ({1}); get it again.</source>
        <translation>模型 {0} 缺少部分量化权重（{1}）；请重新获取。</translation>
    </message>
    <message>
        <source>The model {0} lies in {1} files, and {2} is not among them; get it too, into the same folder.</source>
        <translation>模型 {0} 由 {1} 个文件组成，其中缺少 {2}；请把它也放进同一文件夹。</translation>
    </message>
    <message>
        <source>The model {0} says that it is quantised by {1}, and none of its weights is; get the model again.</source>
        <translation>模型 {0} 声称用 {1} 量化，但没有一个权重是量化的；请重新获取该模型。</translation>
    </message>
    <message>
        <source>The model {0} scales its activations as well as its weights, which is not supported; get it as a GGUF.</source>
        <translation>模型 {0} 除权重外还缩放激活值，尚不支持；请获取其 GGUF 文件。</translation>
    </message>
    <message>
        <source>The model&apos;s chat template cannot be used: {0}.</source>
        <translation>该模型的聊天模板无法使用：{0}。</translation>
    </message>
    <message>
        <source>The model&apos;s chat template does not come to an end; choose another model, or Loquat&apos;s plain template.</source>
        <translation>该模型的聊天模板无法结束；请选择其他模型，或使用 Loquat 的简单模板。</translation>
    </message>
    <message>
        <source>The model&apos;s chat template reaches for a part of Python ({0}) that templates may not use; choose another model, or Loquat&apos;s plain template.</source>
        <translation>该模型的对话模板试图使用模板不得使用的 Python 内部功能（{0}）；请选择其他模型，或使用 Loquat 的简单模板。</translation>
    </message>
    <message>
        <source>The model&apos;s chat template writes earlier messages differently now; another model may not.</source>
        <translation>模型的对话模板现在以不同方式书写较早的消息；其他模型可能不会。</translation>
    </message>
    <message>
        <source>The model&apos;s files name no token that ends a reply: replies go on until their limit.</source>
        <translation>模型文件没有指明结束回答的词元：回答会一直写到上限。</translation>
    </message>
    <message>
        <source>The model&apos;s tokenizer and its weights do not belong together: the tokenizer has tokens up to {0}, and the weights know {1}; get the model again.</source>
        <translation>该模型的分词器与权重不匹配：分词器的词元编号到 {0}，而权重只认识 {1} 个；请重新获取模型。</translation>
    </message>
    <message>
        <source>The model&apos;s weights are damaged ({0}); get it again.</source>
        <translation>模型的权重已损坏（{0}）；请重新获取。</translation>
    </message>
    <message>
        <source>The name of the file {0} contradicts itself; give it back the name it came with.</source>
        <translation>文件名 {0} 自相矛盾；请改回原来的文件名。</translation>
    </message>
    <message>
        <source>The next answer finds the weights in memory.</source>
        <translation>下一个回答时权重已在内存中。</translation>
    </message>
    <message>
        <source>The parts of {0} do not belong together; get them all again.</source>
        <translation>{0} 的各部分不属于同一个模型；请全部重新获取。</translation>
    </message>
    <message>
        <source>The prompt is empty; write something first.</source>
        <translation>提示是空的；请先写点什么。</translation>
    </message>
    <message>
        <source>The prompt names a token that the model lacks; it has 0 to {0}.</source>
        <translation>提示中有模型没有的词元；可用的是 0 到 {0}。</translation>
    </message>
    <message>
        <source>The proxy does not lead to {0}; check HTTPS_PROXY and ALL_PROXY, and get the model again.</source>
        <translation>代理无法到达 {0}；请检查 HTTPS_PROXY 和 ALL_PROXY，然后重新获取模型。</translation>
    </message>
    <message>
        <source>The proxy does not let Loquat through to {0}; check the proxy&apos;s settings.</source>
        <translation>代理不允许 Loquat 连接 {0}；请检查代理设置。</translation>
    </message>
    <message>
        <source>The proxy or the certificates that the environment names cannot be used; look at HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE.</source>
        <translation>环境变量中指定的代理或证书无法使用；请检查 HTTPS_PROXY、ALL_PROXY 和 SSL_CERT_FILE。</translation>
    </message>
    <message>
        <source>The quantised weights in {0} do not fit each other ({1}); get the model again.</source>
        <translation>{0} 中的量化权重彼此不符（{1}）；请重新获取该模型。</translation>
    </message>
    <message>
        <source>The quantised weights in {0} name groups that are not there ({1}); get the model again.</source>
        <translation>{0} 中的量化权重引用了不存在的组（{1}）；请重新获取该模型。</translation>
    </message>
    <message>
        <source>The question is empty; write something first.</source>
        <translation>问题是空的；请先写点什么。</translation>
    </message>
    <message>
        <source>The question waited {0} for other work, {1} of the time.</source>
        <translation>问题为其他工作等待了 {0}，占时间的 {1}。</translation>
    </message>
    <message>
        <source>The reply cannot be held to this JSON schema any longer; ask with a simpler one.</source>
        <translation>回答无法继续符合此 JSON 模式；请用更简单的模式提问。</translation>
    </message>
    <message>
        <source>The server at {0} does not respond; check its address, and whether it runs.</source>
        <translation>{0} 上的服务器没有响应；请检查其地址，并确认它正在运行。</translation>
    </message>
    <message>
        <source>The server at {0} sends requests on to another address; use that one instead.</source>
        <translation>{0} 上的服务器把请求转到了另一个地址；请改用那个地址。</translation>
    </message>
    <message>
        <source>The server began to answer after {0} and wrote for {1}.</source>
        <translation>服务器等了 {0}才开始回答，回答用时 {1}。</translation>
    </message>
    <message>
        <source>The server cannot go on with a file; try again, from the beginning.</source>
        <translation>服务器无法续传文件；请从头重试。</translation>
    </message>
    <message>
        <source>The server {0} asks for a key, and there is none yet; type it in.</source>
        <translation>服务器 {0} 需要密钥，但尚未提供；请输入。</translation>
    </message>
    <message>
        <source>The server {0} does not accept the key; type it in once more.</source>
        <translation>服务器 {0} 不接受该密钥；请重新输入。</translation>
    </message>
    <message>
        <source>The server {0} gave up: {1}</source>
        <translation>服务器 {0} 放弃了回答：{1}</translation>
    </message>
    <message>
        <source>The server {0} has failed inside (error {1}); try again, or look at its log.</source>
        <translation>服务器 {0} 内部出错（错误 {1}）；请重试，或查看其日志。</translation>
    </message>
    <message>
        <source>The server {0} has no model {1} any more; it has: {2}.</source>
        <translation>服务器 {0} 已没有模型 {1}；现有：{2}。</translation>
    </message>
    <message>
        <source>The server {0} has no model {1} at this address; check both.</source>
        <translation>服务器 {0} 在此地址没有模型 {1}；请检查两者。</translation>
    </message>
    <message>
        <source>The server {0} has not answered for too long; try again, or look at what keeps it.</source>
        <translation>服务器 {0} 太久没有应答；请重试，或查看它在忙什么。</translation>
    </message>
    <message>
        <source>The server {0} has stopped sending; what came is kept, try again.</source>
        <translation>服务器 {0} 不再发送内容；已收到的内容已保留，请重试。</translation>
    </message>
    <message>
        <source>The server {0} has too many requests at the moment; try again later.</source>
        <translation>服务器 {0} 目前请求过多；请稍后重试。</translation>
    </message>
    <message>
        <source>The server {0} has too many requests; try again in {1} s.</source>
        <translation>服务器 {0} 请求过多；请在 {1} 秒后重试。</translation>
    </message>
    <message>
        <source>The server {0} lists no models at this address; check how its path ends.</source>
        <translation>服务器 {0} 在此地址没有列出模型；请检查路径的结尾。</translation>
    </message>
    <message>
        <source>The server {0} refuses the request (error {1}): {2}</source>
        <translation>服务器 {0} 拒绝了请求（错误 {1}）：{2}</translation>
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
        <source>The sizes in the model&apos;s config.json make no sense.</source>
        <translation>模型的 config.json 中的尺寸不合理。</translation>
    </message>
    <message>
        <source>The smallest: answers at once on any machine, for trying things out and for very short texts.</source>
        <translation>最小：在任何电脑上都能立即回答，适合试用和很短的文本。</translation>
    </message>
    <message>
        <source>The speed is a careful guess: this machine was never measured.</source>
        <translation>速度是保守的估计：这台电脑还没有测量过。</translation>
    </message>
    <message>
        <source>The strongest here for reasoning and code, for a machine with 16 GB or more.</source>
        <translation>这里推理和代码最强的，需要 16 GB 以上内存。</translation>
    </message>
    <message>
        <source>The system keyring does not give the server&apos;s key; unlock it, or type the key in once more.</source>
        <translation>无法从系统密钥环取得服务器的密钥；请解锁密钥环，或重新输入密钥。</translation>
    </message>
    <message>
        <source>The system withheld processors from this program for {0}, {1} of the time.</source>
        <translation>系统有 {0}没有给此程序分配处理器，占时间的 {1}。</translation>
    </message>
    <message>
        <source>The system withheld the processor for {0} ms, as a limit on this program says.</source>
        <translation>由于对此程序的限制，系统有 {0} 毫秒没有分配处理器。</translation>
    </message>
    <message>
        <source>The text holds tokens that this model does not know.</source>
        <translation>文本中有此模型不认识的词元。</translation>
    </message>
    <message>
        <source>The text to {0} and its key are not encrypted on the way; use https:// unless the network is your own.</source>
        <translation>发往 {0} 的文字和密钥在途中没有加密；除非是你自己的网络，否则请使用 https://。</translation>
    </message>
    <message>
        <source>The tokenizer and the weights in {0} do not belong together; get the file again.</source>
        <translation>{0} 中的分词器与权重不匹配；请重新获取该文件。</translation>
    </message>
    <message>
        <source>The tokenizer and the weights in {0} do not belong together; get the folder again.</source>
        <translation>{0} 中的分词器与权重不配套；请重新获取该文件夹。</translation>
    </message>
    <message>
        <source>The tokenizer does not give every text back as it was, {0} for example.</source>
        <translation>分词器不能把所有文本原样还原，例如 {0}。</translation>
    </message>
    <message>
        <source>The tokenizer has {0} tokens, the embedding {1} rows.</source>
        <translation>分词器有 {0} 个词元，嵌入矩阵有 {1} 行。</translation>
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
        <source>The tokenizer of {0} is damaged; get the model again.</source>
        <translation>{0} 的分词器已损坏；请重新获取模型。</translation>
    </message>
    <message>
        <source>The tokenizer of {0} needs code of its own, which Loquat does not run.</source>
        <translation>{0} 的分词器需要运行自带代码，Loquat 不会运行。</translation>
    </message>
    <message>
        <source>The tokenizer of {0} or {1} cannot be read; get the models again.</source>
        <translation>无法读取 {0} 或 {1} 的分词器；请重新获取模型。</translation>
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
        <source>The weights are in 4 bits already; only a smaller model, or text that repeats itself, is faster.</source>
        <translation>权重已是 4 位；只有更小的模型或重复的文本才会更快。</translation>
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
        <translation>无法读取 {0} 中的权重；请重新获取该模型。</translation>
    </message>
    <message>
        <source>The {0} tokens before them were reused; a shorter question would be read sooner.</source>
        <translation>它们之前的 {0} 个词元得到复用；较短的问题读得更快。</translation>
    </message>
    <message>
        <source>There is no answer to continue; ask a question first.</source>
        <translation>没有可继续的回答；请先提一个问题。</translation>
    </message>
    <message>
        <source>There is no connection to {0}; check the network, and HTTPS_PROXY if it needs a proxy, or name a mirror in HF_ENDPOINT.</source>
        <translation>无法连接到 {0}；请检查网络（如需代理，请检查 HTTPS_PROXY），或在 HF_ENDPOINT 中指定镜像。</translation>
    </message>
    <message>
        <source>There is no file or folder {0}.</source>
        <translation>没有文件或文件夹 {0}。</translation>
    </message>
    <message>
        <source>There is no folder {0}; give the folder that holds {1}.</source>
        <translation>没有文件夹 {0}；请给出含有 {1} 的文件夹。</translation>
    </message>
    <message>
        <source>There is no host {0}, or no network; check the server&apos;s address.</source>
        <translation>没有主机 {0}，或没有网络；请检查服务器的地址。</translation>
    </message>
    <message>
        <source>There is no model named {0}; {1}.</source>
        <translation>没有名为 {0} 的模型；{1}。</translation>
    </message>
    <message>
        <source>There is no model {0} at {1}, or it is private; check its name, or add an access token with: {2}</source>
        <translation>{1} 上没有模型 {0}，或者它是私有的；请检查名称，或用以下命令添加访问令牌：{2}</translation>
    </message>
    <message>
        <source>There is no model {0} in the catalogue; `loquat models catalogue` lists it, and OWNER/NAME gets any other from the hub.</source>
        <translation>目录中没有模型 {0}；`loquat models catalogue` 可列出目录，OWNER/NAME 可从模型库获取其他任何模型。</translation>
    </message>
    <message>
        <source>There is no question to answer; write one first.</source>
        <translation>没有要回答的问题；请先写一个。</translation>
    </message>
    <message>
        <source>There is no system keyring here, so the key is kept only until Loquat is closed.</source>
        <translation>这里没有系统密钥环，因此密钥只保留到 Loquat 关闭为止。</translation>
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
        <source>Thinking, tools and many languages on a laptop.</source>
        <translation>在笔记本电脑上思考、使用工具，支持多种语言。</translation>
    </message>
    <message>
        <source>Thinks before it answers, and is still small enough for any machine.</source>
        <translation>先思考再回答，而且小到任何电脑都能用。</translation>
    </message>
    <message>
        <source>This adapter is there already, as {0}, and is switched {1}.</source>
        <translation>这个适配器已经存在，名为 {0}，当前状态：{1}。</translation>
    </message>
    <message>
        <source>This chat has {0} tokens, but the model can hold {1}; shorten the message or start a new chat.</source>
        <translation>此对话有 {0} 个词元，而模型只能容纳 {1} 个；请缩短消息或新建对话。</translation>
    </message>
    <message>
        <source>This chat leaves no room for the experiment; try it in a shorter one.</source>
        <translation>此对话没有留下进行实验的空间；请在较短的对话中尝试。</translation>
    </message>
    <message>
        <source>This is no complete address; please write one like https://gpu.example:8000/v1.</source>
        <translation>地址不完整；请写成类似 https://gpu.example:8000/v1 的形式。</translation>
    </message>
    <message>
        <source>This machine has no {0} device; choose another one or leave the choice to Loquat.</source>
        <translation>此电脑没有 {0} 设备；请选择其他设备，或让 Loquat 决定。</translation>
    </message>
    <message>
        <source>This model comes with Loquat; install Loquat again to repair it, or choose another model.</source>
        <translation>这个模型随 Loquat 一起提供；请重新安装 Loquat 来修复它，或选择其他模型。</translation>
    </message>
    <message>
        <source>This model has no token that ends a reply, so it cannot be held to a JSON schema.</source>
        <translation>此模型没有结束回答的词元，因此无法约束为 JSON 模式。</translation>
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
        <source>This model is downloaded by pip, which this Python lacks; run python -m ensurepip, and try again.</source>
        <translation>下载该模型需要 pip，而这个 Python 没有；请运行 python -m ensurepip，然后重试。</translation>
    </message>
    <message>
        <source>torch, as the CPU kernels could not be compiled</source>
        <translation>使用 torch，因为无法编译 CPU 内核</translation>
    </message>
    <message>
        <source>without its draft model: there is no memory for both</source>
        <translation>没有草稿模型：内存容纳不下两者</translation>
    </message>
    <message>
        <source>{0} is a download of {1} and takes up to {2} of disk, under the licence {3}</source>
        <translation>{0} 需下载 {1}，最多占用 {2} 磁盘空间，许可证为 {3}</translation>
    </message>
    <message>
        <source>{0} is a download of {1} and takes up to {2} of disk; its page tells no licence</source>
        <translation>{0} 需下载 {1}，最多占用 {2} 磁盘空间；其页面未注明许可证</translation>
    </message>
    <message>
        <source>{0}, which came with Loquat, is damaged; download it, or install Loquat again.</source>
        <translation>Loquat 自带的 {0} 已损坏；请下载它，或重新安装 Loquat。</translation>
    </message>
    <message>
        <source>{0}, {1} MB/s, {2} left</source>
        <translation>{0}，{1} MB/s，剩余 {2}</translation>
    </message>
    <message>
        <source>{0}: there is no room for 16-bit ones</source>
        <translation>{0}：16 位权重放不下</translation>
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
        <source>This model&apos;s chat template knows no tools; ask without them, or choose another model.</source>
        <translation>此模型的对话模板不支持工具；请不用工具提问，或选择其他模型。</translation>
    </message>
    <message>
        <source>This model&apos;s position embedding, {0}, is not supported.</source>
        <translation>此模型的位置编码 {0} 暂不支持。</translation>
    </message>
    <message>
        <source>This needs a model on this machine, and one on a server is chosen; choose another first.</source>
        <translation>这需要这台电脑上的模型，而当前选择的是服务器上的模型；请先换一个。</translation>
    </message>
    <message>
        <source>What came from {0} is no answer of an OpenAI-compatible server; check its address.</source>
        <translation>{0} 返回的不是 OpenAI 兼容服务器的应答；请检查其地址。</translation>
    </message>
    <message>
        <source>What held them up is not known.</source>
        <translation>延迟原因不明。</translation>
    </message>
    <message>
        <source>What it was bound by there is not known here.</source>
        <translation>在那里受什么限制，这里无从得知。</translation>
    </message>
    <message>
        <source>What this machine can do has not been measured yet.</source>
        <translation>尚未测量此电脑的能力。</translation>
    </message>
    <message>
        <source>What this turn was bound by is not known.</source>
        <translation>不清楚此轮受什么限制。</translation>
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
        <source>a format as wide as that is not allowed</source>
        <translation>不允许这么宽的格式</translation>
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
        <source>a number as large as that is not allowed</source>
        <translation>不允许这么大的数字</translation>
    </message>
    <message>
        <source>a range as large as that is not allowed</source>
        <translation>不允许这么大的范围</translation>
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
        <source>about {0}</source>
        <translation>约 {0}</translation>
    </message>
    <message>
        <source>add the adapter</source>
        <translation>添加适配器</translation>
    </message>
    <message>
        <source>add {0}</source>
        <translation>添加 {0}</translation>
    </message>
    <message>
        <source>an answer</source>
        <translation>回答</translation>
    </message>
    <message>
        <source>an unknown method</source>
        <translation>未知方法</translation>
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
        <source>by loquat</source>
        <translation>由 Loquat 处理</translation>
    </message>
    <message>
        <source>caches are limited to {0}, as set</source>
        <translation>按设置，缓存限制为 {0}</translation>
    </message>
    <message>
        <source>choose the draft model</source>
        <translation>选择草稿模型</translation>
    </message>
    <message>
        <source>compiled CPU kernels for {0} ({1} weights, 15-bit activations)</source>
        <translation>为 {0} 编译的 CPU 内核（{1} 权重，15 位激活）</translation>
    </message>
    <message>
        <source>copied layers</source>
        <translation>复制的层</translation>
    </message>
    <message>
        <source>drafts by {0}</source>
        <translation>由 {0} 起草</translation>
    </message>
    <message>
        <source>drop what is here of it with `loquat models forget {0}`, and get it again.</source>
        <translation>请用 `loquat models forget {0}` 丢弃已下载的部分，然后重新获取。</translation>
    </message>
    <message>
        <source>every address</source>
        <translation>所有地址</translation>
    </message>
    <message>
        <source>fast decoder for {0} in torch operations ({1})</source>
        <translation>{0} 的快速解码器，使用 torch 运算（{1}）</translation>
    </message>
    <message>
        <source>fetch torch for NVIDIA GPUs</source>
        <translation>下载用于 NVIDIA GPU 的 torch</translation>
    </message>
    <message>
        <source>get {0}</source>
        <translation>获取 {0}</translation>
    </message>
    <message>
        <source>half of {0} is missing</source>
        <translation>{0} 缺少一半</translation>
    </message>
    <message>
        <source>has no {0}</source>
        <translation>没有 {0}</translation>
    </message>
    <message>
        <source>has {0} as {1}, not {2}</source>
        <translation>其中 {0} 为 {1}，而不是 {2}</translation>
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
        <source>in some minutes</source>
        <translation>几分钟</translation>
    </message>
    <message>
        <source>in {0} min</source>
        <translation> {0} 分钟</translation>
    </message>
    <message>
        <source>it changes how text is escaped, which a template may not</source>
        <translation>它改变了文本的转义方式，模板不可以这样做</translation>
    </message>
    <message>
        <source>it changes nothing</source>
        <translation>它什么也不修改</translation>
    </message>
    <message>
        <source>it describes more than any model has</source>
        <translation>其中描述的内容超过任何模型所能有的</translation>
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
        <source>it has none</source>
        <translation>它一个也没有</translation>
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
        <source>it is too large</source>
        <translation>它太大了</translation>
    </message>
    <message>
        <source>it is {0} bytes long where {1} are described</source>
        <translation>长度为 {0} 字节，而描述为 {1} 字节</translation>
    </message>
    <message>
        <source>it is {0} characters long, of {1} that are allowed</source>
        <translation>它有 {0} 个字符，最多允许 {1} 个</translation>
    </message>
    <message>
        <source>it lacks {0}</source>
        <translation>缺少 {0}</translation>
    </message>
    <message>
        <source>it needs more time or memory than a template may</source>
        <translation>它需要的时间或内存超过了模板的限度</translation>
    </message>
    <message>
        <source>it reads another file, which a template may not</source>
        <translation>它要读取另一个文件，模板不可以这样做</translation>
    </message>
    <message>
        <source>it was trained on another model</source>
        <translation>它是在另一个模型上训练的</translation>
    </message>
    <message>
        <source>it was trained on {0}</source>
        <translation>它是在 {0} 上训练的</translation>
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
        <source>its header is longer than that of any model</source>
        <translation>其文件头比任何模型的都长</translation>
    </message>
    <message>
        <source>its header is longer than the file allows</source>
        <translation>文件头超出文件长度</translation>
    </message>
    <message>
        <source>its lora_alpha is no number</source>
        <translation>它的 lora_alpha 不是数字</translation>
    </message>
    <message>
        <source>its memory ran out</source>
        <translation>显存耗尽</translation>
    </message>
    <message>
        <source>its rank is said to be {0}, and is {1}</source>
        <translation>标明的秩为 {0}，实际为 {1}</translation>
    </message>
    <message>
        <source>keys and values in {0}: {1} cannot hold them in {2}</source>
        <translation>键和值为 {0}：{1}不能以 {2} 保存</translation>
    </message>
    <message>
        <source>logit_bias names token {0}, but the model has tokens 0 to {1}.</source>
        <translation>logit_bias 中有词元 {0}，但模型只有 0 到 {1} 的词元。</translation>
    </message>
    <message>
        <source>loquat models token</source>
        <translation>loquat models token</translation>
    </message>
    <message>
        <source>no CUDA device found</source>
        <translation>未发现 CUDA 设备</translation>
    </message>
    <message>
        <source>no NVIDIA driver found</source>
        <translation>未找到 NVIDIA 驱动</translation>
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
        <source>on the GPU</source>
        <translation>在 GPU 上</translation>
    </message>
    <message>
        <source>only numbers can be summed up</source>
        <translation>只能对数字求和</translation>
    </message>
    <message>
        <source>over {0} GPUs</source>
        <translation>分布在 {0} 个 GPU 上</translation>
    </message>
    <message>
        <source>random weights</source>
        <translation>随机权重</translation>
    </message>
    <message>
        <source>read {0}</source>
        <translation>读取{0}</translation>
    </message>
    <message>
        <source>remove the adapter</source>
        <translation>删除适配器</translation>
    </message>
    <message>
        <source>remove torch for NVIDIA GPUs</source>
        <translation>删除用于 NVIDIA GPU 的 torch</translation>
    </message>
    <message>
        <source>rename {0}</source>
        <translation>重命名 {0}</translation>
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
        <source>spread {0}, as one cannot hold it</source>
        <translation>{0}，因为单个放不下</translation>
    </message>
    <message>
        <source>switch the adapter</source>
        <translation>切换适配器</translation>
    </message>
    <message>
        <source>terms of its own</source>
        <translation>其自有条款</translation>
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
        <source>the magnitudes of {0} are {1}</source>
        <translation>{0} 的幅值为 {1}</translation>
    </message>
    <message>
        <source>the name {0} is not allowed</source>
        <translation>不允许使用名称 {0}</translation>
    </message>
    <message>
        <source>the place of {0} is wrong</source>
        <translation>{0} 的位置有误</translation>
    </message>
    <message>
        <source>the shapes of {0} are {1} and {2}</source>
        <translation>{0} 的形状为 {1} 和 {2}</translation>
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
        <source>the {0} failed: {1}</source>
        <translation>{0} 出错：{1}</translation>
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
        <source>through transformers</source>
        <translation>通过 transformers</translation>
    </message>
    <message>
        <source>through transformers: {0}</source>
        <translation>通过 transformers：{0}</translation>
    </message>
    <message>
        <source>torch arrived damaged, or another file came in its place; try again.</source>
        <translation>下载的 torch 已损坏，或被别的文件代替；请重试。</translation>
    </message>
    <message>
        <source>torch came in a file that cannot be opened; try again.</source>
        <translation>下载的 torch 文件无法打开；请重试。</translation>
    </message>
    <message>
        <source>torch is not given out (HTTP {0}); try again later.</source>
        <translation>无法获取 torch（HTTP {0}）；请稍后重试。</translation>
    </message>
    <message>
        <source>torch&apos;s file names {0} outside of its folder, so it is not unpacked.</source>
        <translation>torch 的文件指向其文件夹之外的 {0}，因此没有解压。</translation>
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
        <source>try again; it goes on where it stopped.</source>
        <translation>请重试，会从中断处继续。</translation>
    </message>
    <message>
        <source>two tensors in it have the same name</source>
        <translation>其中两个张量同名</translation>
    </message>
    <message>
        <source>whole layers</source>
        <translation>完整的层</translation>
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
        <source>without its draft model: {0}</source>
        <translation>没有草稿模型：{0}</translation>
    </message>
    <message>
        <source>without its draft model: {0} cannot take a guess back</source>
        <translation>没有草稿模型：{0} 无法撤回猜测</translation>
    </message>
    <message>
        <source>without thinking</source>
        <translation>不含思考</translation>
    </message>
    <message>
        <source>without {0} as a draft model until kernels are compiled</source>
        <translation>内核编译完成之前不使用草稿模型 {0}</translation>
    </message>
    <message>
        <source>{0} Added with --weights int8 it keeps more.</source>
        <translation>{0}用 --weights int8 添加可以保留更多。</translation>
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
        <source>{0} cannot draft for {1}, as their tokens differ; choose a smaller one of the same family.</source>
        <translation>{0} 不能为 {1} 起草，因为两者的词元不同；请选择同一系列中较小的模型。</translation>
    </message>
    <message>
        <source>{0} chats of {1} tokens ({2})</source>
        <translation>{0} 个各 {1} 词元的对话（{2}）</translation>
    </message>
    <message>
        <source>{0} comes under {1}; read it at {2}, and if you accept it, get the model once more with --accept-licence.</source>
        <translation>{0} 的许可为 {1}；请在 {2} 阅读；如果您接受，请加上 --accept-licence 重新获取模型。</translation>
    </message>
    <message>
        <source>{0} does not answer as a model hub does; check HF_ENDPOINT, and whether your network wants a login in the browser first.</source>
        <translation>{0} 的回答不像模型库；请检查 HF_ENDPOINT，以及网络是否需要先在浏览器中登录。</translation>
    </message>
    <message>
        <source>{0} h {1} min</source>
        <translation>{0} 小时 {1} 分钟</translation>
    </message>
    <message>
        <source>{0} had to be read back from swap: memory is short.</source>
        <translation>{0} 要从交换空间读回：内存不足。</translation>
    </message>
    <message>
        <source>{0} has files whose names cannot be used; get another model.</source>
        <translation>{0} 中有文件名无法使用的文件；请获取其他模型。</translation>
    </message>
    <message>
        <source>{0} has no adapter named {1}; {2}.</source>
        <translation>{0} 没有名为 {1} 的适配器；{2}。</translation>
    </message>
    <message>
        <source>{0} has no revision {1} on the hub, or no longer; {2}</source>
        <translation>{0} 在模型库中没有修订版 {1}，或已不再有；{2}</translation>
    </message>
    <message>
        <source>{0} holds no GGUF files; get it without :{1}.</source>
        <translation>{0} 中没有 GGUF 文件；请去掉 :{1} 再获取。</translation>
    </message>
    <message>
        <source>{0} holds no tokenizer that Loquat can read; get another model.</source>
        <translation>{0} 中没有 Loquat 能读取的分词器；请获取其他模型。</translation>
    </message>
    <message>
        <source>{0} holds no weights as safetensors or GGUF; get another model.</source>
        <translation>{0} 中没有 safetensors 或 GGUF 格式的权重；请获取其他模型。</translation>
    </message>
    <message>
        <source>{0} holds no {1}; there are: {2}.</source>
        <translation>{0} 中没有 {1}；有：{2}。</translation>
    </message>
    <message>
        <source>{0} is an adapter without {1}, the only form that Loquat reads.</source>
        <translation>{0} 是适配器，但缺少 {1}，而 Loquat 只能读取这种形式。</translation>
    </message>
    <message>
        <source>{0} is being downloaded already; wait until that ends, or end it first.</source>
        <translation>{0} 已经在下载；请等它结束，或先结束它。</translation>
    </message>
    <message>
        <source>{0} is busy; asks again in {1} s</source>
        <translation>{0} 正忙；{1} 秒后重试</translation>
    </message>
    <message>
        <source>{0} is damaged; remove the model and add it again.</source>
        <translation>{0} 已损坏；请移除模型后重新添加。</translation>
    </message>
    <message>
        <source>{0} is held as {1}</source>
        <translation>{0} 以 {1} 保存</translation>
    </message>
    <message>
        <source>{0} is missing</source>
        <translation>缺少 {0}</translation>
    </message>
    <message>
        <source>{0} is no adapter; get it without --for {1}.</source>
        <translation>{0} 不是适配器；请去掉 --for {1} 再获取。</translation>
    </message>
    <message>
        <source>{0} is no address of this machine; choose another.</source>
        <translation>{0} 不是这台电脑的地址；请选择其他地址。</translation>
    </message>
    <message>
        <source>{0} is no model, but an adapter{1}; say which of your models it is added to, with --for.</source>
        <translation>{0} 不是模型，而是适配器{1}；请用 --for 指明要把它加到您的哪个模型上。</translation>
    </message>
    <message>
        <source>{0} is no revision; give a branch, a tag or a commit.</source>
        <translation>{0} 不是修订版；请给出分支、标签或提交。</translation>
    </message>
    <message>
        <source>{0} is only for accounts that accepted its terms; accept them at {1}, make an access token at {2}/settings/tokens, add it with `{3}`, and get the model again.</source>
        <translation>{0} 只提供给接受其条款的账户；请在 {1} 接受条款，在 {2}/settings/tokens 创建访问令牌，用 `{3}` 添加，然后重新获取模型。</translation>
    </message>
    <message>
        <source>{0} lacks parts of its weights on the hub; get another model.</source>
        <translation>模型库中 {0} 的权重不完整；请获取其他模型。</translation>
    </message>
    <message>
        <source>{0} min</source>
        <translation>{0} 分钟</translation>
    </message>
    <message>
        <source>{0} ms</source>
        <translation>{0} 毫秒</translation>
    </message>
    <message>
        <source>{0} names no model on the hub; write it as OWNER/NAME, or OWNER/NAME:FILE.</source>
        <translation>{0} 不是模型库中模型的名称；请写成 OWNER/NAME 或 OWNER/NAME:FILE。</translation>
    </message>
    <message>
        <source>{0} of memory are missing.</source>
        <translation>内存还差 {0}。</translation>
    </message>
    <message>
        <source>{0} of that is the chat itself; a shorter one, or a smaller format for its cache, is faster.</source>
        <translation>其中 {0} 是对话本身；较短的对话或更小的缓存格式会更快。</translation>
    </message>
    <message>
        <source>{0} of the weights {1}, {2} in RAM, which cross to it for each token: about {3} s a token more</source>
        <translation>权重的 {0} {1}，{2} 在内存中，每个词元都要传过去：每个词元约多 {3} 秒</translation>
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
        <source>{0} pages of memory had to be read from disk.</source>
        <translation>{0} 页内存要从磁盘读取。</translation>
    </message>
    <message>
        <source>{0} s</source>
        <translation>{0} 秒</translation>
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
        <source>{0} tokens came late, the latest by {1} ms: {2} of the time was such waits.</source>
        <translation>{0} 个词元来得晚，最晚的迟了 {1} 毫秒：这类等待占时间的 {2}。</translation>
    </message>
    <message>
        <source>{0} tokens that had been computed before were computed again, which took {1}, {2} of the time.</source>
        <translation>{0} 个已计算过的词元又重新计算，用时 {1}，占时间的 {2}。</translation>
    </message>
    <message>
        <source>{0}, as chosen for this model</source>
        <translation>{0}，为此模型所选</translation>
    </message>
    <message>
        <source>{0}, as set</source>
        <translation>{0}，按设置</translation>
    </message>
    <message>
        <source>{0}, not {1}: there are no more</source>
        <translation>{0}，不是 {1} 个：没有更多了</translation>
    </message>
</context>
<context>
    <name>experiments</name>
    <message>
        <source>The answer is still being written. Please wait for it, or press Stop.</source>
        <translation>回答仍在生成。请等待，或按“停止”。</translation>
    </message>
    <message>
        <source>There is nothing in this chat yet to go on from.</source>
        <translation>此对话中还没有可继续的内容。</translation>
    </message>
    <message>
        <source>This can be tried once a model is loaded.</source>
        <translation>加载模型后才能尝试。</translation>
    </message>
</context>
<context>
    <name>export_dialog</name>
    <message>
        <source>1 chat</source>
        <translation>1 个对话</translation>
    </message>
    <message>
        <source>All chats</source>
        <translation>全部对话</translation>
    </message>
    <message>
        <source>Begins to write.</source>
        <translation>开始写入。</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Complete, with all versions. Loquat can import it again.</source>
        <translation>完整，包含所有版本。Loquat 可以重新导入。</translation>
    </message>
    <message>
        <source>Export chats</source>
        <translation>导出对话</translation>
    </message>
    <message>
        <source>Export to</source>
        <translation>导出到</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>导出…</translation>
    </message>
    <message>
        <source>It is empty.</source>
        <translation>这个对话是空的。</translation>
    </message>
    <message>
        <source>Loquat chats</source>
        <translation>Loquat 对话</translation>
    </message>
    <message>
        <source>Show in the folder</source>
        <translation>在文件夹中显示</translation>
    </message>
    <message>
        <source>The files are written to this machine and go nowhere else.</source>
        <translation>文件只写到这台电脑上，不会传到别处。</translation>
    </message>
    <message>
        <source>This chat</source>
        <translation>此对话</translation>
    </message>
    <message>
        <source>To read, print or publish: what is on view, as text.</source>
        <translation>用于阅读、打印或发布：以文本形式保存所见内容。</translation>
    </message>
    <message>
        <source>{count} chats</source>
        <translation>{count} 个对话</translation>
    </message>
    <message>
        <source>{done} of {total} chats are written.</source>
        <translation>已写入 {done} 个对话，共 {total} 个。</translation>
    </message>
</context>
<context>
    <name>find_bar</name>
    <message>
        <source>Close (Esc)</source>
        <translation>关闭（Esc）</translation>
    </message>
    <message>
        <source>Find in this chat</source>
        <translation>在此对话中查找</translation>
    </message>
    <message>
        <source>Next match (Enter)</source>
        <translation>下一处（Enter）</translation>
    </message>
    <message>
        <source>Nothing found</source>
        <translation>未找到</translation>
    </message>
    <message>
        <source>Previous match (Shift+Enter)</source>
        <translation>上一处（Shift+Enter）</translation>
    </message>
    <message>
        <source>{number} of {all}</source>
        <translation>{number} / {all}</translation>
    </message>
</context>
<context>
    <name>folder_dialog</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Chats can be dragged onto it, or moved with their menu.</source>
        <translation>可以把对话拖进来，或用对话的菜单移入。</translation>
    </message>
    <message>
        <source>Create</source>
        <translation>创建</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Name of the folder</source>
        <translation>文件夹名称</translation>
    </message>
    <message>
        <source>New folder</source>
        <translation>新建文件夹</translation>
    </message>
</context>
<context>
    <name>fork</name>
    <message>
        <source>Fork: {title}</source>
        <translation>分支：{title}</translation>
    </message>
</context>
<context>
    <name>formula_view</name>
    <message>
        <source>Scroll the formula sideways</source>
        <translation>左右滚动公式</translation>
    </message>
</context>
<context>
    <name>found_rows</name>
    <message>
        <source>There are more. Another word narrows them down.</source>
        <translation>还有更多结果，再加一个词可以缩小范围。</translation>
    </message>
</context>
<context>
    <name>help_dialog</name>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>帮助</translation>
    </message>
    <message>
        <source>Page</source>
        <translation>页面</translation>
    </message>
    <message>
        <source>Pages of the help</source>
        <translation>帮助的页面</translation>
    </message>
</context>
<context>
    <name>history_page</name>
    <message>
        <source>All turns…</source>
        <translation>所有轮次…</translation>
    </message>
    <message>
        <source>Export as CSV…</source>
        <translation>导出为 CSV…</translation>
    </message>
    <message>
        <source>Speed over days</source>
        <translation>每日速度</translation>
    </message>
    <message>
        <source>This chat</source>
        <translation>此对话</translation>
    </message>
    <message>
        <source>Time to first token over days</source>
        <translation>每日首词延迟</translation>
    </message>
</context>
<context>
    <name>history_values</name>
    <message>
        <source>Answer</source>
        <translation>回答</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>格式</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>New</source>
        <translation>新增</translation>
    </message>
    <message>
        <source>Reused</source>
        <translation>复用</translation>
    </message>
    <message>
        <source>Stalls</source>
        <translation>停顿</translation>
    </message>
    <message>
        <source>TTFT</source>
        <translation>首词延迟</translation>
    </message>
    <message>
        <source>TTFT, seconds</source>
        <translation>首词延迟（秒）</translation>
    </message>
    <message>
        <source>The speed of your answers over days will stand here.</source>
        <translation>这里会显示每天回答的速度。</translation>
    </message>
    <message>
        <source>This chat has no answer with a speed yet.</source>
        <translation>此对话还没有可计速的回答。</translation>
    </message>
    <message>
        <source>When</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>cache format</source>
        <translation>缓存格式</translation>
    </message>
    <message>
        <source>device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>p95 ms</source>
        <translation>p95 毫秒</translation>
    </message>
    <message>
        <source>threads</source>
        <translation>线程</translation>
    </message>
    <message>
        <source>tok/s</source>
        <translation>词元/秒</translation>
    </message>
    <message>
        <source>tokens of context</source>
        <translation>上下文词元</translation>
    </message>
    <message>
        <source>version</source>
        <translation>版本</translation>
    </message>
    <message>
        <source>way of computing</source>
        <translation>计算方式</translation>
    </message>
    <message>
        <source>weight format</source>
        <translation>权重格式</translation>
    </message>
    <message>
        <source>{model}: {percent} % slower a token since {changes}</source>
        <translation>{model}：{changes}，此后每词元慢了 {percent} %</translation>
    </message>
</context>
<context>
    <name>import_dialog</name>
    <message>
        <source>And others: {count}</source>
        <translation>另外还有：{count}</translation>
    </message>
    <message>
        <source>Begins to read.</source>
        <translation>开始读取。</translation>
    </message>
    <message>
        <source>Choose a file…</source>
        <translation>选择文件…</translation>
    </message>
    <message>
        <source>Exports</source>
        <translation>导出文件</translation>
    </message>
    <message>
        <source>From Loquat&apos;s JSON, from ChatGPT&apos;s export (its ZIP or conversations.json), or Open WebUI&apos;s JSON.</source>
        <translation>可导入 Loquat 的 JSON、ChatGPT 的导出（ZIP 或 conversations.json），或 Open WebUI 的 JSON。</translation>
    </message>
    <message>
        <source>Import</source>
        <translation>导入</translation>
    </message>
    <message>
        <source>Import chats</source>
        <translation>导入对话</translation>
    </message>
    <message>
        <source>Import from</source>
        <translation>导入来源</translation>
    </message>
    <message>
        <source>Or drop it here. Chats that are here already are kept as they are.</source>
        <translation>或拖到这里。已有的对话保持不变。</translation>
    </message>
    <message>
        <source>Reads {name}: {progress}</source>
        <translation>正在读取 {name}：{progress}</translation>
    </message>
</context>
<context>
    <name>inspection</name>
    <message>
        <source>Cache</source>
        <translation>缓存</translation>
    </message>
    <message>
        <source>Export the figures of all turns</source>
        <translation>导出所有轮次的数据</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Over time</source>
        <translation>历史</translation>
    </message>
    <message>
        <source>The file could not be written: {reason}.</source>
        <translation>无法写入文件：{reason}。</translation>
    </message>
</context>
<context>
    <name>inspector</name>
    <message>
        <source>Close the inspector (F12)</source>
        <translation>关闭检查器（F12）</translation>
    </message>
    <message>
        <source>Inspector</source>
        <translation>检查器</translation>
    </message>
    <message>
        <source>Turn</source>
        <translation>轮次</translation>
    </message>
</context>
<context>
    <name>library</name>
    <message>
        <source>A chat needs a title of at least one character.</source>
        <translation>对话标题至少要有一个字符。</translation>
    </message>
    <message>
        <source>A folder needs a name of at least one character.</source>
        <translation>文件夹名称至少要有一个字符。</translation>
    </message>
</context>
<context>
    <name>look_fields</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Choose a font</source>
        <translation>选择字体</translation>
    </message>
    <message>
        <source>Code stays in a font of fixed width.</source>
        <translation>代码仍使用等宽字体。</translation>
    </message>
    <message>
        <source>Other…</source>
        <translation>其他…</translation>
    </message>
    <message>
        <source>Search the fonts</source>
        <translation>搜索字体</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>使用</translation>
    </message>
</context>
<context>
    <name>memory_page</name>
    <message>
        <source>Chats in memory</source>
        <translation>内存中的对话</translation>
    </message>
    <message>
        <source>Context, tokens</source>
        <translation>上下文（词元）</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV 缓存</translation>
    </message>
    <message>
        <source>Keys and values kept as</source>
        <translation>键和值的保存格式</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>What memory is taken by stands here after the first answer.</source>
        <translation>第一次回答后，这里会显示内存的用途。</translation>
    </message>
    <message>
        <source>What would fit</source>
        <translation>能容纳什么</translation>
    </message>
</context>
<context>
    <name>memory_values</name>
    <message numerus="yes">
        <source>About %Ln turns are left in this context</source>
        <translation>
            <numerusform>此上下文约还剩 %Ln 轮</numerusform>
        </translation>
    </message>
    <message>
        <source>Does not fit by {over}: {count} of {wanted} chats stay in memory at once.</source>
        <translation>超出 {over}：{wanted} 个对话中只有 {count} 个能同时留在内存。</translation>
    </message>
    <message>
        <source>Does not fit by {over}; {longest} tokens would.</source>
        <translation>超出 {over}；{longest} 个词元可以容纳。</translation>
    </message>
    <message>
        <source>Each token</source>
        <translation>每个词元</translation>
    </message>
    <message>
        <source>Each token and layer</source>
        <translation>每个词元每层</translation>
    </message>
    <message>
        <source>Fits: {needed} in all, {left} stay free.</source>
        <translation>可以容纳：共 {needed}，剩余 {left}。</translation>
    </message>
    <message>
        <source>Free for caches</source>
        <translation>可用于缓存</translation>
    </message>
    <message>
        <source>How many turns are left is not known yet.</source>
        <translation>还不清楚剩余多少轮。</translation>
    </message>
    <message>
        <source>KV cache of this chat</source>
        <translation>此对话的 KV 缓存</translation>
    </message>
    <message>
        <source>KV caches of other chats</source>
        <translation>其他对话的 KV 缓存</translation>
    </message>
    <message>
        <source>KV caches, all full</source>
        <translation>KV 缓存，全部用满</translation>
    </message>
    <message>
        <source>Kept as</source>
        <translation>保存格式</translation>
    </message>
    <message>
        <source>Keys, and values, of a layer</source>
        <translation>每层的键与值</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>层数</translation>
    </message>
    <message>
        <source>Program and workspace</source>
        <translation>程序与工作区</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>What other settings would take is not known for this model.</source>
        <translation>不清楚此模型在其他设置下的用量。</translation>
    </message>
    <message>
        <source>{taken} planned, of {allowed}</source>
        <translation>计划 {taken}，共 {allowed}</translation>
    </message>
    <message>
        <source>{turns}: {room} tokens, at {each} a turn. {kept} more are kept for a question and its answer.</source>
        <translation>{turns}：{room} 个词元，每轮 {each} 个。另外为一个问题及其回答保留 {kept} 个。</translation>
    </message>
</context>
<context>
    <name>message_actions</name>
    <message>
        <source>Answer once more; this answer is kept</source>
        <translation>重新回答；保留此回答</translation>
    </message>
    <message>
        <source>Ask this question in other words</source>
        <translation>换一种说法提问</translation>
    </message>
    <message>
        <source>Ask this question once more</source>
        <translation>再次提出此问题</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copy as Markdown</source>
        <translation>复制为 Markdown</translation>
    </message>
    <message>
        <source>Copy as plain text</source>
        <translation>复制为纯文本</translation>
    </message>
    <message>
        <source>Copy this answer</source>
        <translation>复制此回答</translation>
    </message>
    <message>
        <source>Copy this question</source>
        <translation>复制此问题</translation>
    </message>
    <message>
        <source>Delete from here on</source>
        <translation>从此处起删除</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>编辑</translation>
    </message>
    <message>
        <source>Fork</source>
        <translation>分支</translation>
    </message>
    <message>
        <source>Fork into a new chat</source>
        <translation>分支为新对话</translation>
    </message>
    <message>
        <source>Go on from here in a new chat; this one stays as it is</source>
        <translation>在新对话中从此处继续；此对话保持不变</translation>
    </message>
    <message>
        <source>More</source>
        <translation>更多</translation>
    </message>
    <message>
        <source>Next version</source>
        <translation>下一版本</translation>
    </message>
    <message>
        <source>Not answered</source>
        <translation>没有回答</translation>
    </message>
    <message>
        <source>Open a link</source>
        <translation>打开链接</translation>
    </message>
    <message>
        <source>Previous version</source>
        <translation>上一版本</translation>
    </message>
    <message>
        <source>Quote in the question</source>
        <translation>在问题中引用</translation>
    </message>
    <message>
        <source>Regenerate</source>
        <translation>重新生成</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Where the time went</source>
        <translation>时间用在了哪里</translation>
    </message>
    <message>
        <source>Write on from where this answer ends</source>
        <translation>从此回答结束处继续写</translation>
    </message>
</context>
<context>
    <name>message_body</name>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Quote</source>
        <translation>引用</translation>
    </message>
    <message>
        <source>Select all</source>
        <translation>全选</translation>
    </message>
</context>
<context>
    <name>message_text</name>
    <message>
        <source>Show more ({shown} of {all} characters)</source>
        <translation>显示更多（{shown} / {all} 个字符）</translation>
    </message>
</context>
<context>
    <name>message_view</name>
    <message>
        <source>Answer</source>
        <translation>回答</translation>
    </message>
    <message>
        <source>Question</source>
        <translation>问题</translation>
    </message>
</context>
<context>
    <name>migrations</name>
    <message>
        <source>Your chats were saved by a newer version of Loquat. Please update Loquat to open them.</source>
        <translation>你的对话由更新版本的 Loquat 保存。请更新 Loquat 以打开它们。</translation>
    </message>
</context>
<context>
    <name>model_actions</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>检查</translation>
    </message>
    <message>
        <source>Delete…</source>
        <translation>删除…</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>下载</translation>
    </message>
    <message>
        <source>Download, {size}</source>
        <translation>下载，{size}</translation>
    </message>
    <message>
        <source>Its page on the hub…</source>
        <translation>它在 Hub 上的页面…</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>加载</translation>
    </message>
    <message>
        <source>Load again</source>
        <translation>重新加载</translation>
    </message>
    <message>
        <source>Look it up</source>
        <translation>查询</translation>
    </message>
    <message>
        <source>Look up its files</source>
        <translation>查询它的文件</translation>
    </message>
    <message>
        <source>Make default</source>
        <translation>设为默认</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Rename…</source>
        <translation>重命名…</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>搜索</translation>
    </message>
    <message>
        <source>Show in file manager</source>
        <translation>在文件管理器中显示</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Use its own chat template</source>
        <translation>使用它自己的对话模板</translation>
    </message>
    <message>
        <source>Use the plain chat template</source>
        <translation>使用简单对话模板</translation>
    </message>
</context>
<context>
    <name>model_extras</name>
    <message>
        <source>A small model with the same tokenizer that writes ahead; this one checks it. The text stays the same.</source>
        <translation>一个分词器相同的小模型先写，由本模型核对。文本不会改变。</translation>
    </message>
    <message>
        <source>Adapters (LoRA)</source>
        <translation>适配器（LoRA）</translation>
    </message>
    <message>
        <source>Add an adapter…</source>
        <translation>添加适配器…</translation>
    </message>
    <message>
        <source>Draft model</source>
        <translation>草稿模型</translation>
    </message>
    <message>
        <source>None</source>
        <translation>无</translation>
    </message>
    <message>
        <source>None. A folder that peft wrote can be added or dropped here.</source>
        <translation>无。可以添加 peft 写出的文件夹，或把它拖到这里。</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Remove the adapter {name}</source>
        <translation>移除适配器 {name}</translation>
    </message>
</context>
<context>
    <name>model_facts</name>
    <message>
        <source>Chat template</source>
        <translation>对话模板</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>上下文</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>磁盘</translation>
    </message>
    <message>
        <source>Downloaded</source>
        <translation>下载次数</translation>
    </message>
    <message>
        <source>Family</source>
        <translation>系列</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>格式</translation>
    </message>
    <message>
        <source>Languages</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>许可证</translation>
    </message>
    <message>
        <source>Loquat&apos;s plain one; this is a base model without one of its own</source>
        <translation>Loquat 的简单模板；这是基础模型，没有自己的模板</translation>
    </message>
    <message>
        <source>On the disk</source>
        <translation>占用磁盘</translation>
    </message>
    <message>
        <source>On this machine</source>
        <translation>在这台电脑上</translation>
    </message>
    <message>
        <source>Runs on {server}; what you write goes there.</source>
        <translation>在 {server} 上运行；你写的内容会发到那里。</translation>
    </message>
    <message>
        <source>Search Hugging Face for “{words}”</source>
        <translation>在 Hugging Face 上搜索“{words}”</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>规模</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>速度</translation>
    </message>
    <message>
        <source>This goes over the network: what is typed goes to the hub, and nothing else.</source>
        <translation>这会使用网络：只把输入的内容发送到 Hub，别无其他。</translation>
    </message>
    <message>
        <source>This is an adapter (LoRA) for a model. Please load the model it is for first.</source>
        <translation>这是某个模型的适配器（LoRA）。请先加载它所属的模型。</translation>
    </message>
    <message>
        <source>This is an adapter (LoRA). It is added to the model that is loaded, {model}.</source>
        <translation>这是适配器（LoRA）。它会添加到已加载的模型 {model}。</translation>
    </message>
    <message>
        <source>{count} times in the last month</source>
        <translation>上个月 {count} 次</translation>
    </message>
    <message>
        <source>{count} tokens</source>
        <translation>{count} 个词元</translation>
    </message>
    <message>
        <source>{disk}, of which {size} are downloaded</source>
        <translation>{disk}，其中下载 {size}</translation>
    </message>
    <message>
        <source>{languages} and others, {count} in all</source>
        <translation>{languages} 等共 {count} 种</translation>
    </message>
    <message>
        <source>{sentence}.</source>
        <translation>{sentence}。</translation>
    </message>
    <message>
        <source>{size} parameters</source>
        <translation>{size} 参数</translation>
    </message>
</context>
<context>
    <name>model_jobs</name>
    <message>
        <source>Loquat could not start itself for this; please start it anew.</source>
        <translation>Loquat 无法为此启动自身；请重新启动它。</translation>
    </message>
    <message>
        <source>This ended before it was done; please try again.</source>
        <translation>它没有完成就结束了；请重试。</translation>
    </message>
</context>
<context>
    <name>model_loader</name>
    <message>
        <source>No model is loaded.</source>
        <translation>未加载模型。</translation>
    </message>
    <message>
        <source>Preparing the model</source>
        <translation>正在准备模型</translation>
    </message>
</context>
<context>
    <name>model_rows</name>
    <message>
        <source>Asks Hugging Face for “{words}”…</source>
        <translation>正在向 Hugging Face 查询“{words}”…</translation>
    </message>
    <message>
        <source>Being added</source>
        <translation>正在添加</translation>
    </message>
    <message>
        <source>Catalogue</source>
        <translation>目录</translation>
    </message>
    <message>
        <source>Could not be added</source>
        <translation>无法添加</translation>
    </message>
    <message>
        <source>Default</source>
        <translation>默认</translation>
    </message>
    <message>
        <source>Downloading</source>
        <translation>下载</translation>
    </message>
    <message>
        <source>Goes over the network</source>
        <translation>会使用网络</translation>
    </message>
    <message>
        <source>Hugging Face has nothing for “{words}” that Loquat could use.</source>
        <translation>Hugging Face 上没有与“{words}”相符且 Loquat 能用的模型。</translation>
    </message>
    <message>
        <source>Loaded</source>
        <translation>已加载</translation>
    </message>
    <message>
        <source>Look up {repository}</source>
        <translation>查询 {repository}</translation>
    </message>
    <message>
        <source>Looks what fits on this machine…</source>
        <translation>正在查看哪些模型适合这台电脑…</translation>
    </message>
    <message>
        <source>On servers</source>
        <translation>在服务器上</translation>
    </message>
    <message>
        <source>On the hub</source>
        <translation>Hub 上</translation>
    </message>
    <message>
        <source>On this machine</source>
        <translation>在这台电脑上</translation>
    </message>
    <message>
        <source>Search Hugging Face for “{words}”</source>
        <translation>在 Hugging Face 上搜索“{words}”</translation>
    </message>
    <message>
        <source>Type what you look for, or a repository: OWNER/NAME.</source>
        <translation>输入要找的内容，或者仓库名：OWNER/NAME。</translation>
    </message>
    <message>
        <source>on {server}</source>
        <translation>在 {server} 上</translation>
    </message>
</context>
<context>
    <name>model_shelf</name>
    <message>
        <source>Checks the model…</source>
        <translation>正在检查模型…</translation>
    </message>
    <message>
        <source>Load it</source>
        <translation>加载</translation>
    </message>
    <message>
        <source>Show it</source>
        <translation>查看</translation>
    </message>
    <message>
        <source>This is {model}, which is here already.</source>
        <translation>这是 {model}，本机上已经有了。</translation>
    </message>
    <message>
        <source>This takes effect when the model is loaded again.</source>
        <translation>重新加载模型后生效。</translation>
    </message>
    <message>
        <source>Use the plain form</source>
        <translation>使用简单格式</translation>
    </message>
    <message>
        <source>{model} is a base model without a chat template. Its chats can be written in a plain form.</source>
        <translation>{model} 是没有对话模板的基础模型。它的对话可以用简单格式来写。</translation>
    </message>
    <message>
        <source>{name} is on this machine now.</source>
        <translation>{name} 已在这台电脑上。</translation>
    </message>
</context>
<context>
    <name>model_terms</name>
    <message>
        <source>Access token of the hub</source>
        <translation>Hub 的访问令牌</translation>
    </message>
    <message>
        <source>Access token; it is kept in the system&apos;s keyring</source>
        <translation>访问令牌；保存在系统钥匙串中</translation>
    </message>
    <message>
        <source>Format of its weights</source>
        <translation>权重格式</translation>
    </message>
    <message>
        <source>Get a token…</source>
        <translation>获取令牌…</translation>
    </message>
    <message>
        <source>I accept this licence</source>
        <translation>我接受此许可证</translation>
    </message>
    <message>
        <source>Its makers ask you to agree on its page first; the download then needs an access token of your account.</source>
        <translation>它的作者要求先在页面上同意条款；之后下载需要你账户的访问令牌。</translation>
    </message>
    <message>
        <source>Its page on the hub…</source>
        <translation>它在 Hub 上的页面…</translation>
    </message>
    <message>
        <source>Keep it and try again</source>
        <translation>保存并重试</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>许可证</translation>
    </message>
    <message>
        <source>Open the model&apos;s page on the hub</source>
        <translation>打开模型在 Hub 上的页面</translation>
    </message>
    <message>
        <source>Open the page where access tokens are made</source>
        <translation>打开创建访问令牌的页面</translation>
    </message>
    <message>
        <source>Read it</source>
        <translation>阅读</translation>
    </message>
    <message>
        <source>Read the licence</source>
        <translation>阅读许可证</translation>
    </message>
</context>
<context>
    <name>model_words</name>
    <message>
        <source>4-bit</source>
        <translation>4 位</translation>
    </message>
    <message>
        <source>8-bit</source>
        <translation>8 位</translation>
    </message>
    <message>
        <source>Arabic</source>
        <translation>阿拉伯语</translation>
    </message>
    <message>
        <source>As published, not quantised</source>
        <translation>原样，不量化</translation>
    </message>
    <message>
        <source>Begins</source>
        <translation>正在开始</translation>
    </message>
    <message>
        <source>Chinese</source>
        <translation>中文</translation>
    </message>
    <message>
        <source>Czech</source>
        <translation>捷克语</translation>
    </message>
    <message>
        <source>Danish</source>
        <translation>丹麦语</translation>
    </message>
    <message>
        <source>Did not work</source>
        <translation>没有成功</translation>
    </message>
    <message>
        <source>Does not fit</source>
        <translation>放不下</translation>
    </message>
    <message>
        <source>Does not fit: needs {needs}, {free} are free</source>
        <translation>放不下：需要 {needs}，可用 {free}</translation>
    </message>
    <message>
        <source>Downloading {model}</source>
        <translation>正在下载 {model}</translation>
    </message>
    <message>
        <source>Dutch</source>
        <translation>荷兰语</translation>
    </message>
    <message>
        <source>English</source>
        <translation>英语</translation>
    </message>
    <message>
        <source>Finnish</source>
        <translation>芬兰语</translation>
    </message>
    <message>
        <source>Fits</source>
        <translation>放得下</translation>
    </message>
    <message>
        <source>Fits with a context of {count}</source>
        <translation>上下文为 {count} 时放得下</translation>
    </message>
    <message>
        <source>French</source>
        <translation>法语</translation>
    </message>
    <message>
        <source>German</source>
        <translation>德语</translation>
    </message>
    <message>
        <source>Hebrew</source>
        <translation>希伯来语</translation>
    </message>
    <message>
        <source>Hindi</source>
        <translation>印地语</translation>
    </message>
    <message>
        <source>Hungarian</source>
        <translation>匈牙利语</translation>
    </message>
    <message>
        <source>Importing {model}</source>
        <translation>正在导入 {model}</translation>
    </message>
    <message>
        <source>Italian</source>
        <translation>意大利语</translation>
    </message>
    <message>
        <source>Japanese</source>
        <translation>日语</translation>
    </message>
    <message>
        <source>Korean</source>
        <translation>韩语</translation>
    </message>
    <message>
        <source>Norwegian</source>
        <translation>挪威语</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>Polish</source>
        <translation>波兰语</translation>
    </message>
    <message>
        <source>Portuguese</source>
        <translation>葡萄牙语</translation>
    </message>
    <message>
        <source>Russian</source>
        <translation>俄语</translation>
    </message>
    <message>
        <source>Smaller context</source>
        <translation>上下文较小</translation>
    </message>
    <message>
        <source>Spanish</source>
        <translation>西班牙语</translation>
    </message>
    <message>
        <source>Swedish</source>
        <translation>瑞典语</translation>
    </message>
    <message>
        <source>Thai</source>
        <translation>泰语</translation>
    </message>
    <message>
        <source>This did not work; please try again.</source>
        <translation>没有成功；请重试。</translation>
    </message>
    <message>
        <source>Turkish</source>
        <translation>土耳其语</translation>
    </message>
    <message>
        <source>Ukrainian</source>
        <translation>乌克兰语</translation>
    </message>
    <message>
        <source>Vietnamese</source>
        <translation>越南语</translation>
    </message>
    <message>
        <source>Waits for its turn</source>
        <translation>等待轮到它</translation>
    </message>
    <message>
        <source>What suits this machine</source>
        <translation>由 Loquat 选择</translation>
    </message>
    <message>
        <source>about {rate} tok/s</source>
        <translation>约 {rate} 词元/秒</translation>
    </message>
    <message>
        <source>first token after about {time}</source>
        <translation>首个词元约需 {time}</translation>
    </message>
    <message>
        <source>not known before this machine was measured with a model</source>
        <translation>用某个模型测量过这台电脑之后才知道</translation>
    </message>
    <message>
        <source>{done} of {total}</source>
        <translation>{done} / {total}</translation>
    </message>
    <message>
        <source>{format} (recommended)</source>
        <translation>{format}（推荐）</translation>
    </message>
    <message>
        <source>{size} to download</source>
        <translation>下载 {size}</translation>
    </message>
    <message>
        <source>{time} left</source>
        <translation>剩余 {time}</translation>
    </message>
</context>
<context>
    <name>models_dialog</name>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Search the models</source>
        <translation>搜索模型</translation>
    </message>
    <message>
        <source>Search, or OWNER/NAME</source>
        <translation>搜索，或 OWNER/NAME</translation>
    </message>
    <message>
        <source>Use a model file…</source>
        <translation>使用模型文件…</translation>
    </message>
    <message>
        <source>Use a model folder…</source>
        <translation>使用模型文件夹…</translation>
    </message>
</context>
<context>
    <name>notice_bar</name>
    <message>
        <source>Copy details</source>
        <translation>复制详情</translation>
    </message>
    <message>
        <source>Copy the technical details</source>
        <translation>复制技术详情</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>palette</name>
    <message>
        <source>Actions and chats</source>
        <translation>操作和对话</translation>
    </message>
    <message>
        <source>Nothing is called “{query}”.</source>
        <translation>没有名为“{query}”的项目。</translation>
    </message>
    <message>
        <source>Search actions and chats</source>
        <translation>搜索操作和对话</translation>
    </message>
    <message>
        <source>What would you like to do, or which chat to open?</source>
        <translation>想做什么，或打开哪个对话？</translation>
    </message>
</context>
<context>
    <name>presence</name>
    <message>
        <source>No model is loaded.</source>
        <translation>没有加载模型。</translation>
    </message>
</context>
<context>
    <name>progress_card</name>
    <message>
        <source>Answering this chat with the cache and without</source>
        <translation>分别用缓存和不用缓存回答这个对话</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>question {number} of {total}</source>
        <translation>第 {number} 个问题，共 {total} 个</translation>
    </message>
    <message>
        <source>{count} more wait</source>
        <translation>还有 {count} 个等待</translation>
    </message>
    <message>
        <source>{done} of {total}</source>
        <translation>{done} / {total}</translation>
    </message>
    <message>
        <source>{time} left</source>
        <translation>还需 {time}</translation>
    </message>
</context>
<context>
    <name>providing</name>
    <message>
        <source>Add an adapter</source>
        <translation>添加适配器</translation>
    </message>
    <message>
        <source>An adapter goes with a model; please load one first.</source>
        <translation>适配器要配合模型使用；请先加载一个模型。</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Delete {model}?</source>
        <translation>删除 {model}？</translation>
    </message>
    <message>
        <source>It is loaded; its memory is given back first.</source>
        <translation>它已加载；会先释放它的内存。</translation>
    </message>
    <message>
        <source>Models (*.gguf);;All files (*)</source>
        <translation>模型 (*.gguf);;所有文件 (*)</translation>
    </message>
    <message>
        <source>No file manager could be opened. The model lies here: {folder}</source>
        <translation>无法打开文件管理器。模型位于：{folder}</translation>
    </message>
    <message>
        <source>Up to {size} of disk are freed. To use the model again, get or add it again.</source>
        <translation>最多释放 {size} 磁盘空间。要再次使用该模型，请重新获取或添加。</translation>
    </message>
    <message>
        <source>Use a model file</source>
        <translation>使用模型文件</translation>
    </message>
    <message>
        <source>Use a model folder</source>
        <translation>使用模型文件夹</translation>
    </message>
    <message>
        <source>{name} is no model. Please drop a GGUF file or a model&apos;s folder.</source>
        <translation>{name} 不是模型。请拖入 GGUF 文件或模型的文件夹。</translation>
    </message>
</context>
<context>
    <name>queued_line</name>
    <message>
        <source>Edit</source>
        <translation>编辑</translation>
    </message>
    <message>
        <source>Sent after this answer: {text}</source>
        <translation>在此回答之后发送：{text}</translation>
    </message>
    <message>
        <source>Take the waiting question back into the field</source>
        <translation>把等待中的问题取回输入框</translation>
    </message>
</context>
<context>
    <name>quick_ask</name>
    <message>
        <source>Ask</source>
        <translation>提问</translation>
    </message>
    <message>
        <source>Ask anything</source>
        <translation>随便问点什么</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copy the answer as Markdown</source>
        <translation>以 Markdown 复制回答</translation>
    </message>
    <message>
        <source>Enter asks, Esc hides</source>
        <translation>Enter 提问，Esc 隐藏</translation>
    </message>
    <message>
        <source>Go on in the window</source>
        <translation>在窗口中继续</translation>
    </message>
    <message>
        <source>Open in Loquat</source>
        <translation>在 Loquat 中打开</translation>
    </message>
    <message>
        <source>Quick ask</source>
        <translation>快速提问</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>That is too long for this field. In the window it goes with a question as a file.</source>
        <translation>这段文字太长，这里放不下。在主窗口中，它可以作为文件随问题一起发送。</translation>
    </message>
    <message>
        <source>Your question</source>
        <translation>你的问题</translation>
    </message>
</context>
<context>
    <name>recover</name>
    <message numerus="yes">
        <source>%Ln chats</source>
        <translation>
            <numerusform>%Ln 个对话</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln messages</source>
        <translation>
            <numerusform>%Ln 条消息</numerusform>
        </translation>
    </message>
    <message>
        <source>Recovered chat</source>
        <translation>恢复的对话</translation>
    </message>
    <message>
        <source>The saved chats were damaged and could not be read. The damaged file was kept as {file}.</source>
        <translation>保存的对话已损坏，无法读取。损坏的文件已保留为 {file}。</translation>
    </message>
    <message>
        <source>The saved chats were damaged. {conversations} with {messages} could be read and are here; {lost}. The damaged file was kept as {file}.</source>
        <translation>保存的对话已损坏。{conversations}（{messages}）可以读取，已恢复；{lost}。损坏的文件保留为 {file}。</translation>
    </message>
    <message numerus="yes">
        <source>at least %Ln messages are lost</source>
        <translation>
            <numerusform>至少 %Ln 条消息已丢失</numerusform>
        </translation>
    </message>
    <message>
        <source>others may be missing</source>
        <translation>其他内容可能缺失</translation>
    </message>
</context>
<context>
    <name>refusal_dialog</name>
    <message>
        <source>Loquat cannot begin</source>
        <translation>Loquat 无法启动</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>退出</translation>
    </message>
    <message>
        <source>Show the folder</source>
        <translation>显示文件夹</translation>
    </message>
    <message>
        <source>Where the file is</source>
        <translation>文件所在位置</translation>
    </message>
</context>
<context>
    <name>remote_servers</name>
    <message>
        <source>The list of servers in {file} cannot be written. Is there room on the disk?</source>
        <translation>无法写入服务器列表 {file}。磁盘还有空间吗？</translation>
    </message>
</context>
<context>
    <name>removal</name>
    <message>
        <source>Archived “{title}”.</source>
        <translation>已归档“{title}”。</translation>
    </message>
    <message>
        <source>Deleted “{title}”.</source>
        <translation>已删除“{title}”。</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>What was deleted can no longer be brought back.</source>
        <translation>删除的内容已无法恢复。</translation>
    </message>
</context>
<context>
    <name>rename_dialog</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>重命名</translation>
    </message>
    <message>
        <source>Rename {model}</source>
        <translation>重命名 {model}</translation>
    </message>
    <message>
        <source>What people read; empty for what it is called by itself.</source>
        <translation>显示给人看的名称；留空则用它自己的名称。</translation>
    </message>
</context>
<context>
    <name>row_view</name>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
</context>
<context>
    <name>search</name>
    <message>
        <source>The chats cannot be searched at the moment.</source>
        <translation>目前无法搜索对话。</translation>
    </message>
</context>
<context>
    <name>search_field</name>
    <message>
        <source>Clear the search (Esc)</source>
        <translation>清除搜索（Esc）</translation>
    </message>
    <message>
        <source>Search all chats</source>
        <translation>搜索全部对话</translation>
    </message>
    <message>
        <source>Search all chats ({keys})</source>
        <translation>搜索全部对话（{keys}）</translation>
    </message>
</context>
<context>
    <name>search_results</name>
    <message>
        <source>Answer</source>
        <translation>回答</translation>
    </message>
    <message>
        <source>Chat {title}, {when}</source>
        <translation>对话 {title}，{when}</translation>
    </message>
    <message>
        <source>What was found</source>
        <translation>搜索结果</translation>
    </message>
    <message>
        <source>You</source>
        <translation>你</translation>
    </message>
    <message>
        <source>{who}: {text}, {when}</source>
        <translation>{who}：{text}，{when}</translation>
    </message>
</context>
<context>
    <name>serve_dialog</name>
    <message>
        <source>At {url} programs are answered now.</source>
        <translation>现在程序可以通过 {url} 提问。</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Copy the address</source>
        <translation>复制地址</translation>
    </message>
    <message>
        <source>Key that programs must show (may be empty)</source>
        <translation>其他程序须提供的密钥（可以留空）</translation>
    </message>
    <message>
        <source>Nobody is answered now.</source>
        <translation>目前没有提供服务。</translation>
    </message>
    <message>
        <source>Port</source>
        <translation>端口</translation>
    </message>
    <message>
        <source>Programs on this machine can ask the model that is loaded, in the way of OpenAI&apos;s API. Nobody else is answered, and your own questions come first. It ends with the window.</source>
        <translation>这台电脑上的程序可以通过 OpenAI 的 API 向已加载的模型提问。其他电脑无法访问，你自己的提问优先。关闭窗口后即停止。</translation>
    </message>
    <message>
        <source>Serve other programs</source>
        <translation>为其他程序提供服务</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>启动</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
</context>
<context>
    <name>server_dialog</name>
    <message>
        <source>Add a server</source>
        <translation>添加服务器</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>Asking the server for its models</source>
        <translation>正在向服务器查询模型</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>For models on another machine. While one of them is chosen, what you write leaves this machine.</source>
        <translation>用于其他电脑上的模型。选择其中一个时，你写的内容会离开这台电脑。</translation>
    </message>
    <message>
        <source>GPU server</source>
        <translation>GPU 服务器</translation>
    </message>
    <message>
        <source>It answers in {time}. Models: {count}.</source>
        <translation>应答用时 {time}。模型：{count} 个。</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>密钥</translation>
    </message>
    <message>
        <source>Models of this server to choose from</source>
        <translation>此服务器上可供选择的模型</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Only if the server asks for one; it is kept in the system&apos;s keyring</source>
        <translation>仅在服务器要求时填写；保存在系统密钥环中</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Test</source>
        <translation>测试</translation>
    </message>
    <message>
        <source>The one that is kept; type to change it</source>
        <translation>使用已保存的密钥；输入即可更改</translation>
    </message>
    <message>
        <source>{model}, {limit} tokens</source>
        <translation>{model}，{limit} 个词元</translation>
    </message>
</context>
<context>
    <name>session</name>
    <message>
        <source>One message waits already. Please press Edit beside it, or wait.</source>
        <translation>已有一条消息在等待。请点击它旁边的“编辑”，或等待。</translation>
    </message>
    <message>
        <source>Only the last answer of a chat can be continued.</source>
        <translation>只能继续对话的最后一个回答。</translation>
    </message>
    <message>
        <source>The answer is still being written. Please wait for it, or press Stop.</source>
        <translation>回答仍在生成。请等待，或按“停止”。</translation>
    </message>
    <message>
        <source>There is nothing to send yet. Please type a question.</source>
        <translation>还没有可发送的内容。请输入问题。</translation>
    </message>
</context>
<context>
    <name>setting</name>
    <message>
        <source>between {low} and {high}</source>
        <translation>介于 {low} 和 {high} 之间</translation>
    </message>
    <message>
        <source>{name} must be on or off.</source>
        <translation>“{name}”必须是开或关。</translation>
    </message>
    <message>
        <source>{name} must be one of {choices}.</source>
        <translation>“{name}”必须是以下之一：{choices}。</translation>
    </message>
    <message>
        <source>{name} must be text.</source>
        <translation>“{name}”必须是文本。</translation>
    </message>
    <message>
        <source>{name} must be the name of a font.</source>
        <translation>“{name}”必须是字体名称。</translation>
    </message>
    <message>
        <source>{name} must be {range}.</source>
        <translation>“{name}”必须{range}。</translation>
    </message>
</context>
<context>
    <name>setting_fields</name>
    <message>
        <source>None</source>
        <translation>无</translation>
    </message>
</context>
<context>
    <name>setting_row</name>
    <message>
        <source>Reset: {name}</source>
        <translation>重置：{name}</translation>
    </message>
    <message>
        <source>{range}.</source>
        <translation>{range}。</translation>
    </message>
</context>
<context>
    <name>settings</name>
    <message>
        <source>The settings could not be read; the defaults are used.</source>
        <translation>无法读取设置；已使用默认值。</translation>
    </message>
    <message>
        <source>The settings could not be read; they were kept as {name}, and the defaults are used.</source>
        <translation>无法读取设置；原文件已保留为 {name}，并使用默认值。</translation>
    </message>
    <message>
        <source>The settings could not be saved in {folder}. Is there room on the disk?</source>
        <translation>无法在 {folder} 中保存设置。磁盘还有空间吗？</translation>
    </message>
</context>
<context>
    <name>settings_dialog</name>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Everything here goes back to its default; the system prompt is emptied.</source>
        <translation>这里的所有设置都恢复默认；系统提示词会清空。</translation>
    </message>
    <message>
        <source>Load the model again</source>
        <translation>重新加载模型</translation>
    </message>
    <message>
        <source>No setting is called that.</source>
        <translation>没有这样的设置。</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>全部重置</translation>
    </message>
    <message>
        <source>Reset all settings?</source>
        <translation>重置所有设置？</translation>
    </message>
    <message>
        <source>Search the settings</source>
        <translation>搜索设置</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Some changes take effect when the model is loaded again.</source>
        <translation>有些更改要重新加载模型后才生效。</translation>
    </message>
</context>
<context>
    <name>shown_chat</name>
    <message>
        <source>Answer: {text}</source>
        <translation>回答：{text}</translation>
    </message>
</context>
<context>
    <name>sidebar</name>
    <message>
        <source>Chats</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>New chat ({keys})</source>
        <translation>新对话（{keys}）</translation>
    </message>
    <message>
        <source>Nothing was found for “{query}”.</source>
        <translation>没有找到“{query}”。</translation>
    </message>
    <message>
        <source>Offline. Nothing leaves this machine.</source>
        <translation>离线。数据不会离开这台电脑。</translation>
    </message>
    <message>
        <source>Settings (Ctrl+,)</source>
        <translation>设置（Ctrl+,）</translation>
    </message>
    <message>
        <source>Your chats will stand here.
They stay on this machine.</source>
        <translation>你的对话会列在这里。
它们只留在这台电脑上。</translation>
    </message>
</context>
<context>
    <name>slash_menu</name>
    <message>
        <source>Commands</source>
        <translation>命令</translation>
    </message>
</context>
<context>
    <name>start_cards</name>
    <message>
        <source>A first model is on its way</source>
        <translation>第一个模型正在准备</translation>
    </message>
    <message>
        <source>Assistant {name}</source>
        <translation>助手 {name}</translation>
    </message>
    <message>
        <source>Download, {size}</source>
        <translation>下载（{size}）</translation>
    </message>
    <message>
        <source>It is downloaded once. After that everything works offline.</source>
        <translation>只需下载一次，之后全部离线工作。</translation>
    </message>
    <message>
        <source>Load the model once more, or use another that you have (GGUF).</source>
        <translation>重新加载模型，或使用你已有的其他模型（GGUF）。</translation>
    </message>
    <message>
        <source>Load {model}</source>
        <translation>加载 {model}</translation>
    </message>
    <message>
        <source>No model is loaded</source>
        <translation>未加载模型</translation>
    </message>
    <message>
        <source>Other models…</source>
        <translation>其他模型…</translation>
    </message>
    <message>
        <source>There is no model yet</source>
        <translation>还没有模型</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Use a model file…</source>
        <translation>使用模型文件…</translation>
    </message>
    <message>
        <source>Use a model folder…</source>
        <translation>使用模型文件夹…</translation>
    </message>
    <message>
        <source>{name} is small and answers on any computer. {size} are downloaded once and take {disk} of the disk, then everything works offline. Or use a model that you have (GGUF).</source>
        <translation>{name} 很小，任何电脑都能运行。只需下载一次（{size}，占用磁盘 {disk}），之后全部离线工作。也可以使用你已有的模型（GGUF）。</translation>
    </message>
    <message>
        <source>{size} are downloaded once. After that everything works offline.</source>
        <translation>只需下载一次（{size}），之后全部离线工作。</translation>
    </message>
</context>
<context>
    <name>start_page</name>
    <message>
        <source>Begin with an assistant</source>
        <translation>选择一个助手</translation>
    </message>
    <message>
        <source>Explain recursion with a Python example</source>
        <translation>用 Python 例子解释递归</translation>
    </message>
    <message>
        <source>Or ask one of these</source>
        <translation>或者问其中一个问题</translation>
    </message>
    <message>
        <source>The answer is made by {server}; what you write goes to {host}.</source>
        <translation>由 {server} 回答，你写的内容会发送到 {host}。</translation>
    </message>
    <message>
        <source>The answer is made on this machine; nothing leaves it.</source>
        <translation>回答在这台电脑上生成，数据不会离开。</translation>
    </message>
    <message>
        <source>Three ideas for a rainy Sunday</source>
        <translation>下雨的周日可以做的三件事</translation>
    </message>
    <message>
        <source>What would you like to know?</source>
        <translation>你想知道什么？</translation>
    </message>
    <message>
        <source>Why is the sky blue?</source>
        <translation>天空为什么是蓝色的？</translation>
    </message>
    <message>
        <source>Write a short thank-you note to a neighbour</source>
        <translation>给邻居写一张简短的感谢便条</translation>
    </message>
    <message>
        <source>You can type already. The answer comes as soon as the model is ready.</source>
        <translation>现在就可以输入，模型一准备好就会回答。</translation>
    </message>
    <message>
        <source>You can write already; an answer needs a model.</source>
        <translation>现在就可以写，但回答需要模型。</translation>
    </message>
</context>
<context>
    <name>status_bar</name>
    <message>
        <source>Context not known yet, of {limit}</source>
        <translation>上下文用量未知，上限 {limit}</translation>
    </message>
    <message>
        <source>Context not reported</source>
        <translation>上下文用量未报告</translation>
    </message>
    <message>
        <source>Context {used}</source>
        <translation>上下文 {used}</translation>
    </message>
    <message>
        <source>Context {used} of {limit}</source>
        <translation>上下文 {used} / {limit}</translation>
    </message>
    <message>
        <source>Memory {size} in use</source>
        <translation>内存占用 {size}</translation>
    </message>
    <message>
        <source>No model is loaded</source>
        <translation>未加载模型</translation>
    </message>
    <message>
        <source>On {host}</source>
        <translation>发往 {host}</translation>
    </message>
    <message>
        <source>Other programs on this machine are answered</source>
        <translation>正在回答这台电脑上的其他程序</translation>
    </message>
    <message>
        <source>Serves at {address}</source>
        <translation>正在 {address} 提供服务</translation>
    </message>
    <message>
        <source>Text goes to {server}, {host}</source>
        <translation>文字发往 {server}（{host}）</translation>
    </message>
    <message>
        <source>The model is on its way</source>
        <translation>模型正在准备</translation>
    </message>
    <message>
        <source>What Loquat holds now; the inspector says what it plans for, at most</source>
        <translation>Loquat 当前占用的内存；检查器中显示的是计划的最大用量</translation>
    </message>
    <message>
        <source>faster code is being compiled once, answers are slower until then</source>
        <translation>正在编译更快的代码（仅此一次），完成前回答较慢</translation>
    </message>
    <message>
        <source>slower while code is compiled</source>
        <translation>编译代码期间较慢</translation>
    </message>
    <message>
        <source>{device}, {reason}</source>
        <translation>{device}，{reason}</translation>
    </message>
</context>
<context>
    <name>store</name>
    <message>
        <source>Chats cannot be kept in {folder}. Please check that the folder can be written to.</source>
        <translation>无法在 {folder} 中保存对话。请检查该文件夹是否可写。</translation>
    </message>
    <message>
        <source>Chats cannot be read from the disk. Please restart Loquat.</source>
        <translation>无法从磁盘读取对话。请重新启动 Loquat。</translation>
    </message>
    <message>
        <source>The chats in {folder} were saved by another version of Loquat, or are damaged. Nothing was changed.</source>
        <translation>{folder} 中的对话由另一版本的 Loquat 保存，或者已损坏。没有任何改动。</translation>
    </message>
    <message>
        <source>The chats were closed before this was done.</source>
        <translation>在完成之前对话已关闭。</translation>
    </message>
    <message>
        <source>The disk is full: chats cannot be kept in {folder}. Please make some room there.</source>
        <translation>磁盘已满：无法在 {folder} 中保存对话。请在那里腾出一些空间。</translation>
    </message>
</context>
<context>
    <name>strip</name>
    <message numerus="yes">
        <source>%Ln stalls</source>
        <translation>
            <numerusform>%Ln 次停顿</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Time per token: %Ln tokens</source>
        <translation>
            <numerusform>每词元时间：%Ln 个词元</numerusform>
        </translation>
    </message>
    <message>
        <source>Token {number}: {ms} ms</source>
        <translation>词元 {number}：{ms} 毫秒</translation>
    </message>
    <message>
        <source>Tokens {number} to {last}: at most {ms} ms</source>
        <translation>词元 {number} 到 {last}：最多 {ms} 毫秒</translation>
    </message>
</context>
<context>
    <name>table_view</name>
    <message>
        <source>Scroll the table sideways</source>
        <translation>左右滚动表格</translation>
    </message>
</context>
<context>
    <name>thinking_view</name>
    <message>
        <source>Show or hide what the model thought</source>
        <translation>显示或隐藏模型的思考</translation>
    </message>
    <message>
        <source>Thinking…</source>
        <translation>正在思考…</translation>
    </message>
    <message>
        <source>Thinking… {time}</source>
        <translation>正在思考… {time}</translation>
    </message>
    <message>
        <source>Thought before answering</source>
        <translation>回答前进行了思考</translation>
    </message>
    <message>
        <source>Thought for {time}</source>
        <translation>思考了 {time}</translation>
    </message>
    <message>
        <source>{seconds} s</source>
        <translation>{seconds} 秒</translation>
    </message>
</context>
<context>
    <name>title_field</name>
    <message>
        <source>Title of the chat</source>
        <translation>对话标题</translation>
    </message>
</context>
<context>
    <name>tokens_dialog</name>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>The cache held, from token {start}</source>
        <translation>缓存中的内容，从词元 {start} 起</translation>
    </message>
    <message>
        <source>The prompt has, from token {start}</source>
        <translation>提示中的内容，从词元 {start} 起</translation>
    </message>
    <message>
        <source>Where the prompt parted from the cache</source>
        <translation>提示与缓存的分歧处</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>无</translation>
    </message>
</context>
<context>
    <name>transfer</name>
    <message numerus="yes">
        <source>%Ln already here.</source>
        <translation>
            <numerusform>%Ln 个已存在。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln chats exported to {file}.</source>
        <translation>
            <numerusform>已将 %Ln 个对话导出到 {file}。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln chats imported.</source>
        <translation>
            <numerusform>已导入 %Ln 个对话。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln could not be read.</source>
        <translation>
            <numerusform>%Ln 个无法读取。</numerusform>
        </translation>
    </message>
    <message>
        <source>A fault in Loquat ended this. Nothing was changed.</source>
        <translation>Loquat 内部出错，操作已中止。没有更改任何内容。</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>回答</translation>
    </message>
    <message>
        <source>Question</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>The chats cannot be read or written at the moment. Nothing was changed.</source>
        <translation>目前无法读写对话。没有更改任何内容。</translation>
    </message>
    <message>
        <source>The export was cancelled.</source>
        <translation>导出已取消。</translation>
    </message>
    <message>
        <source>The file cannot be read or written. Please check its folder and try again.</source>
        <translation>无法读写该文件。请检查其文件夹后重试。</translation>
    </message>
    <message>
        <source>The import was cancelled. Nothing was added.</source>
        <translation>导入已取消。没有添加任何内容。</translation>
    </message>
    <message>
        <source>There are no chats in {file}. Loquat reads its own exports, ChatGPT&apos;s and Open WebUI&apos;s.</source>
        <translation>{file} 中没有对话。Loquat 可读取自己的导出以及 ChatGPT 和 Open WebUI 的导出。</translation>
    </message>
    <message>
        <source>There is no conversations.json in {file}.</source>
        <translation>{file} 中没有 conversations.json。</translation>
    </message>
    <message>
        <source>There is not enough room on the disk. Nothing was changed.</source>
        <translation>磁盘空间不足。没有更改任何内容。</translation>
    </message>
    <message>
        <source>This chat is empty.</source>
        <translation>此对话是空的。</translation>
    </message>
    <message>
        <source>This file was exported by a newer version of Loquat. Please update Loquat.</source>
        <translation>此文件由更新版本的 Loquat 导出。请更新 Loquat。</translation>
    </message>
    <message>
        <source>This is no chat that Loquat knows.</source>
        <translation>这不是 Loquat 认识的对话。</translation>
    </message>
    <message>
        <source>Untitled</source>
        <translation>未命名</translation>
    </message>
    <message>
        <source>[A recording that was not imported]</source>
        <translation>[未导入的录音]</translation>
    </message>
    <message>
        <source>[A video that was not imported]</source>
        <translation>[未导入的视频]</translation>
    </message>
    <message>
        <source>[An image that was not imported]</source>
        <translation>[未导入的图片]</translation>
    </message>
    <message>
        <source>[Something that was not imported]</source>
        <translation>[未导入的内容]</translation>
    </message>
    <message>
        <source>[The file {name} that was not imported]</source>
        <translation>[未导入的文件 {name}]</translation>
    </message>
    <message>
        <source>{file} cannot be read.</source>
        <translation>无法读取 {file}。</translation>
    </message>
    <message>
        <source>{file} is a damaged or locked archive.</source>
        <translation>{file} 是已损坏或加密的压缩包。</translation>
    </message>
    <message>
        <source>{file} is damaged or not complete.</source>
        <translation>{file} 已损坏或不完整。</translation>
    </message>
    <message>
        <source>{file} is empty.</source>
        <translation>{file} 是空的。</translation>
    </message>
    <message>
        <source>{file} is not a JSON file.</source>
        <translation>{file} 不是 JSON 文件。</translation>
    </message>
</context>
<context>
    <name>transfer_dialog</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>What was left out, and why</source>
        <translation>遗漏的内容及原因</translation>
    </message>
</context>
<context>
    <name>tray</name>
    <message>
        <source>New chat</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>Open Loquat</source>
        <translation>打开 Loquat</translation>
    </message>
    <message>
        <source>Quick ask</source>
        <translation>快速提问</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>退出</translation>
    </message>
    <message>
        <source>The answer is there</source>
        <translation>回答已完成</translation>
    </message>
    <message>
        <source>Untitled chat</source>
        <translation>未命名对话</translation>
    </message>
</context>
<context>
    <name>turn_figures</name>
    <message>
        <source>(not reported)</source>
        <translation>（未报告）</translation>
    </message>
    <message numerus="yes">
        <source>Answer: {tokens} tokens in {seconds}</source>
        <translation>
            <numerusform>回答：{tokens} 个词元，用时 {seconds}</numerusform>
        </translation>
    </message>
    <message>
        <source>Answered by {server}, not on this machine</source>
        <translation>由 {server} 回答，不在这台电脑上</translation>
    </message>
    <message>
        <source>Between tokens: p50 {p50} ms, p95 {p95}, max {most}</source>
        <translation>词元间隔：p50 {p50} 毫秒，p95 {p95}，最长 {most}</translation>
    </message>
    <message>
        <source>Cache of this chat: {size}</source>
        <translation>此对话的缓存：{size}</translation>
    </message>
    <message numerus="yes">
        <source>Decode: {tokens} tokens in {seconds}</source>
        <translation>
            <numerusform>解码：{tokens} 个词元，用时 {seconds}</numerusform>
        </translation>
    </message>
    <message>
        <source>First text after {seconds}, the network and the server&apos;s queue among it</source>
        <translation>首段文字用时 {seconds}，包括网络和服务器排队</translation>
    </message>
    <message>
        <source>Model: {model}</source>
        <translation>模型：{model}</translation>
    </message>
    <message numerus="yes">
        <source>Prefill: {tokens} tokens in {seconds}</source>
        <translation>
            <numerusform>预填充：{tokens} 个词元，用时 {seconds}</numerusform>
        </translation>
    </message>
    <message>
        <source>Prompt lookup: drafted {drafted}, kept {kept}</source>
        <translation>提示查找：起草 {drafted}，采纳 {kept}</translation>
    </message>
    <message>
        <source>Prompt: {prompt} tokens, {cached} from the cache</source>
        <translation>提示：{prompt} 个词元，其中 {cached} 个来自缓存</translation>
    </message>
    <message>
        <source>Prompt: {prompt} tokens, {cached} from the server&apos;s cache</source>
        <translation>提示：{prompt} 个词元，其中 {cached} 个来自服务器的缓存</translation>
    </message>
    <message>
        <source>TTFT {time}</source>
        <translation>首词 {time}</translation>
    </message>
    <message>
        <source>by {server}</source>
        <translation>由 {server} 回答</translation>
    </message>
    <message>
        <source>reused tokens not reported</source>
        <translation>复用的词元未报告</translation>
    </message>
    <message>
        <source>{cached} reused + {new} new</source>
        <translation>复用 {cached} + 新增 {new}</translation>
    </message>
    <message numerus="yes">
        <source>{cached} reused + {new} new tokens</source>
        <translation>
            <numerusform>复用 {cached} + 新增 {new} 个词元</numerusform>
        </translation>
    </message>
    <message>
        <source>{rate} pieces of text a second; a piece may be one token or several</source>
        <translation>每秒 {rate} 段文本；一段可能是一个或多个词元</translation>
    </message>
    <message>
        <source>{rate} pieces/s</source>
        <translation>{rate} 段/秒</translation>
    </message>
    <message>
        <source>{rate} tok/s</source>
        <translation>{rate} 词元/秒</translation>
    </message>
</context>
<context>
    <name>turn_log</name>
    <message>
        <source>The figures of past answers cannot be read from the disk.</source>
        <translation>无法从磁盘读取以往回答的数据。</translation>
    </message>
</context>
<context>
    <name>turn_page</name>
    <message numerus="yes">
        <source>%Ln tokens</source>
        <translation>
            <numerusform>%Ln 个词元</numerusform>
        </translation>
    </message>
    <message>
        <source>Ask something: where the time of the answer went will stand here.</source>
        <translation>提个问题：这里会显示回答的时间用在了哪里。</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Message by message</source>
        <translation>逐条消息</translation>
    </message>
    <message>
        <source>Show both token sequences</source>
        <translation>显示两个词元序列</translation>
    </message>
    <message>
        <source>The tokens that the cache held, and those of this prompt, side by side</source>
        <translation>缓存中的词元与此提示的词元，并排显示</translation>
    </message>
    <message>
        <source>This answer was interrupted before its figures were known.</source>
        <translation>此回答在得出数据之前就被中断了。</translation>
    </message>
    <message>
        <source>This prompt</source>
        <translation>此提示</translation>
    </message>
    <message>
        <source>This question was not answered. Where the time of an answer went will stand here.</source>
        <translation>此问题没有得到回答。有回答后，这里会显示时间用在了哪里。</translation>
    </message>
    <message>
        <source>Time per token</source>
        <translation>每词元时间</translation>
    </message>
    <message>
        <source>Where the time went</source>
        <translation>时间用在了哪里</translation>
    </message>
</context>
<context>
    <name>turn_values</name>
    <message>
        <source>Answer</source>
        <translation>回答</translation>
    </message>
    <message>
        <source>Computed</source>
        <translation>计算</translation>
    </message>
    <message>
        <source>Drafted tokens</source>
        <translation>起草的词元</translation>
    </message>
    <message>
        <source>Drawing</source>
        <translation>绘制</translation>
    </message>
    <message>
        <source>Engine</source>
        <translation>引擎</translation>
    </message>
    <message>
        <source>First token</source>
        <translation>首个词元</translation>
    </message>
    <message>
        <source>From Enter until the engine took the question.</source>
        <translation>从按 Enter 到引擎接收问题。</translation>
    </message>
    <message>
        <source>From the last token until it was on the screen.</source>
        <translation>从最后一个词元到显示在屏幕上。</translation>
    </message>
    <message>
        <source>Generated</source>
        <translation>生成</translation>
    </message>
    <message>
        <source>How fast the answer came on the screen, drawing included.</source>
        <translation>回答出现在屏幕上的速度，包括绘制的时间。</translation>
    </message>
    <message>
        <source>It is known once an answer of two tokens or more has ended while its chat was on view.</source>
        <translation>回答至少有两个词元，并且结束时对话正在显示，才能知道。</translation>
    </message>
    <message>
        <source>Left out, the context is full</source>
        <translation>略去，上下文已满</translation>
    </message>
    <message>
        <source>Loading the model</source>
        <translation>加载模型</translation>
    </message>
    <message>
        <source>New tokens are read in parallel. This decides the time to first token.</source>
        <translation>新词元并行读取。这决定首词延迟。</translation>
    </message>
    <message>
        <source>One token a step. This decides the tokens per second.</source>
        <translation>每步一个词元。这决定每秒词元数。</translation>
    </message>
    <message>
        <source>Prefill</source>
        <translation>预填充</translation>
    </message>
    <message>
        <source>Python collected garbage</source>
        <translation>Python 垃圾回收</translation>
    </message>
    <message>
        <source>Question</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>Reused from the cache</source>
        <translation>从缓存复用</translation>
    </message>
    <message>
        <source>Screen</source>
        <translation>屏幕</translation>
    </message>
    <message>
        <source>Stall of {ms} before token {number}: {cause}</source>
        <translation>词元 {number} 之前停顿 {ms}：{cause}</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>系统提示词</translation>
    </message>
    <message>
        <source>Template</source>
        <translation>模板</translation>
    </message>
    <message>
        <source>The first token is chosen.</source>
        <translation>选出首个词元。</translation>
    </message>
    <message>
        <source>The messages become tokens.</source>
        <translation>消息变为词元。</translation>
    </message>
    <message>
        <source>The model was not in memory yet.</source>
        <translation>模型尚未在内存中。</translation>
    </message>
    <message>
        <source>The prefix broke at token {position}, in message {message}: {reason}. {lost}.</source>
        <translation>前缀在词元 {position}（消息 {message}）处中断：{reason}。{lost}。</translation>
    </message>
    <message>
        <source>Time to first token</source>
        <translation>首词延迟</translation>
    </message>
    <message>
        <source>Waiting for its turn</source>
        <translation>排队等待</translation>
    </message>
    <message>
        <source>a cache was written to disk</source>
        <translation>有缓存写入磁盘</translation>
    </message>
    <message>
        <source>faster kernels took over, whose cache has another format</source>
        <translation>更快的内核已接手，其缓存格式不同</translation>
    </message>
    <message>
        <source>p50 {p50} · p95 {p95} · max {longest}</source>
        <translation>p50 {p50} · p95 {p95} · 最长 {longest}</translation>
    </message>
    <message>
        <source>{seconds} s</source>
        <translation>{seconds} 秒</translation>
    </message>
    <message numerus="yes">
        <source>%Ln tokens were computed again</source>
        <translation>
            <numerusform>%Ln 个词元重新计算</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln tokens, left out</source>
        <translation>
            <numerusform>%Ln 个词元，略去</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Decode, %Ln tokens</source>
        <translation>
            <numerusform>解码，%Ln 个词元</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Prefill, %Ln tokens</source>
        <translation>
            <numerusform>预填充，%Ln 个词元</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>and %Ln more stalls</source>
        <translation>
            <numerusform>以及另外 %Ln 次停顿</numerusform>
        </translation>
    </message>
    <message>
        <source>another program used the processor</source>
        <translation>其他程序占用了处理器</translation>
    </message>
    <message>
        <source>another version of it was chosen</source>
        <translation>选择了该消息的另一个版本</translation>
    </message>
    <message>
        <source>cause not known</source>
        <translation>原因不明</translation>
    </message>
    <message>
        <source>it was edited</source>
        <translation>该消息被编辑过</translation>
    </message>
    <message>
        <source>memory was read back from disk</source>
        <translation>内存从磁盘读回</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>reuse was turned off for this turn</source>
        <translation>此轮关闭了复用</translation>
    </message>
    <message>
        <source>the cache belongs to another model</source>
        <translation>缓存属于其他模型</translation>
    </message>
    <message>
        <source>the cache grew</source>
        <translation>缓存扩大</translation>
    </message>
    <message>
        <source>the cache had to make room, or its file is gone</source>
        <translation>缓存已让出空间，或其文件已不在</translation>
    </message>
    <message>
        <source>the context was full and old turns were left out</source>
        <translation>上下文已满，略去了旧轮次</translation>
    </message>
    <message>
        <source>the engine waited and computed nothing</source>
        <translation>引擎在等待，没有计算</translation>
    </message>
    <message>
        <source>the system withheld the processor</source>
        <translation>系统没有分配处理器</translation>
    </message>
    <message>
        <source>the template wrote earlier messages otherwise than before</source>
        <translation>模板以不同方式书写了较早的消息</translation>
    </message>
    <message>
        <source>the window took its time</source>
        <translation>窗口耗时</translation>
    </message>
    <message>
        <source>this kind of model can go back to a few places only</source>
        <translation>这类模型只能退回到少数几个位置</translation>
    </message>
    <message>
        <source>{accepted} of {drafted} right</source>
        <translation>{drafted} 个中 {accepted} 个正确</translation>
    </message>
    <message>
        <source>{lost}: {reason}.</source>
        <translation>{lost}：{reason}。</translation>
    </message>
    <message>
        <source>{ms} ms</source>
        <translation>{ms} 毫秒</translation>
    </message>
    <message>
        <source>{reused} reused, {computed} computed</source>
        <translation>复用 {reused}，计算 {computed}</translation>
    </message>
</context>
<context>
    <name>turns_dialog</name>
    <message>
        <source>All turns</source>
        <translation>所有轮次</translation>
    </message>
</context>
<context>
    <name>update_check</name>
    <message>
        <source>Loquat {version} is out; you have {current}.</source>
        <translation>Loquat {version} 已发布；你使用的是 {current}。</translation>
    </message>
    <message>
        <source>Read about it</source>
        <translation>了解详情</translation>
    </message>
</context>
<context>
    <name>words</name>
    <message>
        <source>Answers</source>
        <translation>正在回答</translation>
    </message>
    <message>
        <source>Cut off: the context or the length limit is full</source>
        <translation>已截断：上下文或长度已达上限</translation>
    </message>
    <message>
        <source>Interrupted</source>
        <translation>已中断</translation>
    </message>
    <message>
        <source>Last week</source>
        <translation>最近一周</translation>
    </message>
    <message>
        <source>MMMM</source>
        <translation>M月</translation>
    </message>
    <message>
        <source>MMMM yyyy</source>
        <translation>yyyy年M月</translation>
    </message>
    <message>
        <source>Online, only for models. Your chats stay here.</source>
        <translation>已联网，仅用于模型。你的对话留在这里。</translation>
    </message>
    <message>
        <source>Online. What you ask in any chat goes to {host}.</source>
        <translation>联网。你在任何对话中的提问都会发送到 {host}。</translation>
    </message>
    <message>
        <source>Reads 1 new token, {share} %</source>
        <translation>正在读取 1 个新词元，{share} %</translation>
    </message>
    <message>
        <source>Reads the question</source>
        <translation>正在读取问题</translation>
    </message>
    <message>
        <source>Reads {count} new tokens, {share} %</source>
        <translation>正在读取 {count} 个新词元，{share} %</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>The message above did not fit the context and was not read for the last answer.</source>
        <translation>上面这条消息超出了上下文，上次回答时没有读取。</translation>
    </message>
    <message>
        <source>The {count} messages above did not fit the context and were not read for the last answer.</source>
        <translation>上面 {count} 条消息超出了上下文，上次回答时没有读取。</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>今天</translation>
    </message>
    <message>
        <source>Waiting for its turn</source>
        <translation>正在排队</translation>
    </message>
    <message>
        <source>Waiting for the model</source>
        <translation>正在等待模型</translation>
    </message>
    <message>
        <source>Waiting for {server}</source>
        <translation>正在等待 {server}</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>昨天</translation>
    </message>
    <message>
        <source>d</source>
        <translation>d日</translation>
    </message>
    <message>
        <source>d MMM</source>
        <translation>M月d日</translation>
    </message>
    <message>
        <source>d MMM yyyy</source>
        <translation>yyyy年M月d日</translation>
    </message>
    <message>
        <source>now</source>
        <translation>刚刚</translation>
    </message>
    <message>
        <source>{hours} h</source>
        <translation>{hours} 小时</translation>
    </message>
    <message>
        <source>{minutes} min</source>
        <translation>{minutes} 分钟</translation>
    </message>
    <message>
        <source>{minutes} min {seconds} s</source>
        <translation>{minutes} 分 {seconds} 秒</translation>
    </message>
    <message>
        <source>{rate} tok/s</source>
        <translation>{rate} 词元/秒</translation>
    </message>
    <message>
        <source>{seconds} s</source>
        <translation>{seconds} 秒</translation>
    </message>
</context>
</TS>
