// The words of the model that every engine runs. It is no network that has learnt something: each token has one
// successor, so that every engine has to say the same, whatever its kernels round to. The last token of the prompt,
// which the chat template chooses, decides the answer.

/** The conversation's last turn to which the answer has no end. */
export const endlessQuestion = "Count without end.";

/** The conversation's last turn to which the answer is one word again and again. */
export const repeatedQuestion = "Repeat.";
/** That word. */
export const repeated = " la";

/** A stop sequence that stands in the middle of the answer. */
export const stopWord = " STOP";

/** What the plain answer is, as the client has it. The face is four tokens, of a byte each. */
export const plainAnswer = "Hello 😀 world and more STOP after words.";
/** Without the white space around it, of which some is the parsers' to leave or to take. */
export const thought = "I ponder";
export const call = { name: "weather", arguments: { city: "Oslo" } };

/** Ends the prompt when tools are offered. */
const toolsMark = "<|tools|>";

const count = [" one", " two", " three", " four", " five", " six"];
const answer = ["Hello", " ", "\xf0", "\x9f", "\x98", "\x80", " world", " and", " more", stopWord, " after", " words"];
const callTokens = [
  "<tool_call>",
  '\n{"name":',
  ' "weather",',
  ' "arguments":',
  ' {"city":',
  ' "Oslo"}}\n',
  "</tool_call>",
];

/** Tokens in the order in which they follow each other; those of one character are bytes. */
export const chains: readonly (readonly string[])[] = [
  ["\n", "<think>", " I", " ponder", "</think>", "\n\n", ...answer, ".", "<|im_end|>"],
  [toolsMark, ...callTokens, "<|im_end|>"],
  [...count, count[0] as string],
  [repeated, repeated],
];

/** As Qwen3's template: `enable_thinking: false` answers for the model that it has thought nothing. */
export const chatTemplate = [
  "{%- if tools %}{{- '<|im_start|>system\\n<tools>' }}{%- for tool in tools %}{{- '\\n' + (tool | tojson) }}{%- endfor %}",
  `{{- '\\n</tools>\\nCall: <tool_call>\\n{"name": NAME, "arguments": ARGUMENTS}\\n</tool_call><|im_end|>\\n' }}{%- endif %}`,
  "{%- for message in messages %}",
  "{%- if message.role == 'tool' %}{{- '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response>' }}",
  "{%- else %}{{- '<|im_start|>' + message.role + '\\n' + (message.content or '') }}{%- endif %}",
  "{%- for call in message.tool_calls or [] %}{%- set called = call.function or call %}",
  `{{- '<tool_call>\\n{"name": "' + called.name + '", "arguments": ' }}`,
  "{{- called.arguments if called.arguments is string else (called.arguments | tojson) }}{{- '}\\n</tool_call>' }}",
  "{%- endfor %}",
  "{{- '<|im_end|>\\n' }}",
  "{%- endfor %}",
  "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}",
  "{%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}",
  `{%- if messages[-1].content == '${endlessQuestion}' %}{{- ' one' }}`,
  `{%- elif messages[-1].content == '${repeatedQuestion}' %}{{- '${repeated}' }}`,
  `{%- elif tools and messages[-1].role == 'user' %}{{- '${toolsMark}' }}{%- endif %}`,
  "{%- endif %}",
].join("");

/** The same for Ollama, which has templates of Go. */
export const goTemplate = [
  "{{- if .Tools }}<|im_start|>system\n<tools>{{- range .Tools }}\n{{ . }}{{- end }}\n</tools>\n",
  'Call: <tool_call>\n{"name": NAME, "arguments": ARGUMENTS}\n</tool_call><|im_end|>\n{{ end }}',
  "{{- range $i, $turn := .Messages }}{{- $last := eq (len (slice $.Messages $i)) 1 }}",
  '<|im_start|>{{ if eq .Role "tool" }}user\n<tool_response>\n{{ .Content }}\n</tool_response>',
  "{{ else }}{{ .Role }}\n{{ if .Thinking }}<think>{{ .Thinking }}</think>\n\n{{ end }}{{ .Content }}{{ end }}",
  '{{- range .ToolCalls }}<tool_call>\n{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}\n',
  '</tool_call>{{ end }}{{ if not (and $last (eq .Role "assistant")) }}<|im_end|>\n{{ end }}',
  '{{- if and $last (ne .Role "assistant") }}<|im_start|>assistant\n',
  "{{ if and $.IsThinkSet (not $.Think) }}<think>\n\n</think>\n\n{{ end }}",
  `{{- if eq .Content "${endlessQuestion}" }} one{{ else if eq .Content "${repeatedQuestion}" }}${repeated}{{ else if and $.Tools (eq .Role "user") }}${toolsMark}{{ end }}`,
  "{{- end }}{{ end }}",
].join("");
