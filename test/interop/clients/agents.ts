/** Requests as coding agents send them, after their public sources: what they add, where, and in which form. */
export interface AgentRequest {
  readonly agent: string;
  readonly path: "/v1/messages?beta=true" | "/v1/messages" | "/v1/chat/completions" | "/v1/completions";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

const cached = { cache_control: { type: "ephemeral" } };
const cachedLong = { cache_control: { type: "ephemeral", ttl: "1h" } };
const text = (value: string, more: object = {}) => ({ type: "text", text: value, ...more });

const bash = {
  name: "Bash",
  description: "Executes a given bash command.\n\nUsage notes:\n  - The command argument is required.",
  input_schema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      command: { description: "The command to execute", type: "string" },
      timeout: { description: "Optional timeout in milliseconds (max 600000)", type: "number" },
      run_in_background: { type: "boolean" },
    },
    required: ["command"],
    additionalProperties: false,
  },
};
const todo = {
  name: "TodoWrite",
  description: "Use this tool to create and manage a structured task list.",
  input_schema: {
    type: "object",
    properties: {
      todos: {
        type: "array",
        items: {
          type: "object",
          properties: { content: { type: "string", minLength: 1 }, status: { enum: ["pending", "completed"] } },
          required: ["content", "status"],
        },
      },
    },
    required: ["todos"],
  },
};

const claudeCode = {
  accept: "application/json",
  "anthropic-beta":
    "claude-code-20250219,interleaved-thinking-2025-05-14,mid-conversation-system-2026-04-07,effort-2025-11-24",
  "anthropic-dangerous-direct-browser-access": "true",
  "anthropic-version": "2023-06-01",
  "content-type": "application/json",
  "user-agent": "claude-cli/2.1.197 (external, cli)",
  "x-app": "cli",
  "x-claude-code-session-id": "0e7f2c1e",
  "x-stainless-helper-method": "stream",
  "x-stainless-retry-count": "0",
  "x-stainless-timeout": "600",
};

const chatTools = [
  {
    type: "function",
    function: {
      name: "read",
      description: "Reads a file from the local filesystem.",
      parameters: {
        $schema: "http://json-schema.org/draft-07/schema#",
        type: "object",
        properties: { filePath: { type: "string" }, offset: { type: "number" } },
        required: ["filePath"],
        additionalProperties: false,
      },
      strict: false,
    },
  },
];

/** The requests; the model's place is filled by the test. */
export const agentRequests: readonly AgentRequest[] = [
  {
    agent: "Claude Code: the turns of a session",
    path: "/v1/messages?beta=true",
    headers: claudeCode,
    body: {
      messages: [
        {
          role: "user",
          content: [
            text(
              "<system-reminder>\nAs you answer the user's questions, you can use the following context:\n</system-reminder>",
            ),
            text("run the tests", cachedLong),
          ],
        },
        { role: "system", content: "MCP server instructions: none." },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "The user wants tests.", signature: "EqQBCkYIBxgCKkBx" },
            { type: "redacted_thinking", data: "EmwKAhgBEgy3va3pzix" },
            text("I'll run them."),
            { type: "tool_use", id: "toolu_01", name: "Bash", input: { command: "npm test" } },
            { type: "tool_use", id: "toolu_02", name: "TodoWrite", input: { todos: [] }, caller: { type: "direct" } },
          ],
        },
        {
          role: "user",
          content: [
            { tool_use_id: "toolu_01", type: "tool_result", content: "Exit code 1", is_error: true },
            { tool_use_id: "toolu_02", type: "tool_result", content: [text("Todos have been modified.")] },
            text("<system-reminder>\nYour todo list is empty.\n</system-reminder>\n"),
            text("[Request interrupted by user]"),
            text("go on", cached),
          ],
        },
        { role: "system", content: [text("Plan mode is off.", cached)] },
      ],
      system: [
        text("x-anthropic-billing-header: cc_version=2.1.197.ac3; cc_entrypoint=cli; cch=2b1f0;"),
        text("You are Claude Code, Anthropic's official CLI for Claude.", cachedLong),
        text("\nYou are an interactive agent that helps users with software engineering tasks.", cachedLong),
      ],
      tools: [bash, { ...todo, ...cached, eager_input_streaming: true }],
      metadata: { user_id: '{"device_id":"d","account_uuid":"","session_id":"s"}' },
      max_tokens: 32000,
      thinking: { type: "adaptive", display: "summarized" },
      context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
      output_config: { effort: "high" },
      diagnostics: { previous_message_id: null },
      stream: true,
    },
  },
  {
    agent: "Claude Code: an agent below the first, which sets an effort without thinking",
    path: "/v1/messages?beta=true",
    headers: { ...claudeCode, "x-claude-code-agent-id": "a1", "x-claude-code-parent-agent-id": "a0" },
    body: {
      messages: [
        { role: "user", content: [text("<system-reminder>\n</system-reminder>\n"), text("Find main.", cached)] },
        { role: "system", content: "The following skills are available for use with the Skill tool:\n\n- none" },
      ],
      system: [
        text("x-anthropic-billing-header: cc_version=2.1.197.ac3; cc_entrypoint=cli; cch=00000; cc_is_subagent=true;"),
        text("You are an agent for Claude Code.", cached),
      ],
      tools: [bash],
      metadata: { user_id: "u" },
      max_tokens: 32000,
      output_config: { effort: "high" },
      stream: true,
    },
  },
  {
    agent: "Claude Code: the check of the quota",
    path: "/v1/messages?beta=true",
    headers: claudeCode,
    body: { max_tokens: 1, messages: [{ role: "user", content: "quota" }], metadata: { user_id: "u" } },
  },
  {
    agent: "Cline: its messages provider",
    path: "/v1/messages",
    headers: { "anthropic-version": "2023-06-01" },
    body: {
      max_tokens: 8192,
      temperature: 0,
      system: [{ text: "You are Cline, a highly skilled software engineer.", type: "text", ...cached }],
      messages: [
        {
          role: "user",
          content: [text("<task>\nFix it\n</task>"), text("<environment_details>\n</environment_details>", cached)],
        },
      ],
      tools: [
        { name: "read_file", description: "Reads", input_schema: { type: "object", properties: {}, required: [] } },
      ],
      tool_choice: { type: "any" },
      stream: true,
    },
  },
  {
    agent: "Continue: its messages provider",
    path: "/v1/messages",
    headers: { "anthropic-version": "2023-06-01", "anthropic-beta": "prompt-caching-2024-07-31" },
    body: {
      max_tokens: 4096,
      stop_sequences: [],
      stream: true,
      thinking: { type: "enabled", budget_tokens: 2048 },
      messages: [
        { role: "user", content: [text("Where is main?")] },
        { role: "assistant", content: [{ type: "thinking", thinking: "Hm." }] },
        { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "grep", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1" }] },
      ],
      system: "",
      tools: [{ name: "grep", input_schema: { type: "object", properties: {} } }],
    },
  },
  {
    agent: "opencode: the turns of a session",
    path: "/v1/chat/completions",
    headers: { "user-agent": "opencode/1.2.0 ai-sdk/openai-compatible/1.0.30", "x-session-affinity": "ses_1" },
    body: {
      max_tokens: 32000,
      temperature: 0.55,
      top_p: 1,
      reasoning_effort: "medium",
      messages: [
        { role: "system", content: "You are opencode, an interactive CLI tool." },
        { role: "system", content: "Here is some useful information about the environment you are running in." },
        { role: "user", content: "where is main?" },
        {
          role: "assistant",
          content: "",
          reasoning_content: "I should read.",
          tool_calls: [
            { id: "call_1", type: "function", function: { name: "read", arguments: '{"filePath":"/a"}' } },
            { id: "call_2", type: "function", function: { name: "read", arguments: '{"filePath":"/b"}' } },
          ],
        },
        { role: "tool", tool_call_id: "call_1", content: "<file>\n00001| main\n</file>" },
        { role: "tool", tool_call_id: "call_2", content: "Error: File not found: /b" },
      ],
      tools: chatTools,
      tool_choice: "auto",
      stream: true,
      stream_options: { include_usage: true },
    },
  },
  {
    agent: "Cline: its OpenAI-compatible provider",
    path: "/v1/chat/completions",
    headers: { "http-referer": "https://cline.bot", "x-title": "Cline" },
    body: {
      messages: [
        { role: "developer", content: "You are Cline, a highly skilled software engineer." },
        {
          role: "user",
          content: [text("<task>\nFix it\n</task>"), text("<environment_details>\n</environment_details>")],
        },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "call_1", type: "function", function: { name: "read", arguments: "" } }],
        },
        { role: "tool", tool_call_id: "call_1", content: [text("The file is empty.")] },
      ],
      temperature: 0,
      reasoning_effort: "medium",
      stream: true,
      stream_options: { include_usage: true },
      tools: chatTools,
      tool_choice: "auto",
      parallel_tool_calls: false,
    },
  },
  {
    agent: "aider, over LiteLLM",
    path: "/v1/chat/completions",
    headers: { "user-agent": "OpenAI/Python 1.99.1", "x-stainless-lang": "python", "x-stainless-raw-response": "true" },
    body: {
      messages: [
        { role: "system", content: [text("Act as an expert software developer.", cached)] },
        { role: "user", content: "I have *added these files to the chat* so you can go ahead and edit them." },
        { role: "assistant", content: "Ok, any changes I propose will be to those files." },
        { role: "user", content: "Fix it" },
        { role: "system", content: "# *SEARCH/REPLACE block* Rules:" },
      ],
      temperature: 0,
      stream: true,
      stream_options: { include_usage: true },
      user: "aider",
      extra_headers: null,
    },
  },
  {
    agent: "Continue: a chat",
    path: "/v1/chat/completions",
    headers: { "api-key": "unused", "content-type": "application/json" },
    body: {
      messages: [{ role: "user", content: " " }],
      max_tokens: 2048,
      stream: true,
      stop: ["<|im_end|>", "<|im_start|>"],
      prediction: { type: "content", content: "x" },
    },
  },
  {
    agent: "Continue: the completion of code",
    path: "/v1/completions",
    headers: { "api-key": "unused" },
    body: {
      prompt: "<|fim_prefix|>function add(a, b) {<|fim_suffix|>}<|fim_middle|>",
      max_tokens: 64,
      temperature: 0.01,
      stream: true,
      stop: [
        "<|endoftext|>",
        "<|fim_prefix|>",
        "<|fim_middle|>",
        "<|fim_suffix|>",
        "<|fim_pad|>",
        "/src/",
        "```",
        "\n\n",
      ],
    },
  },
];
