// After TensorRT-LLM's serve/openai_protocol.py of 2026, which forbids all other fields.

/** The fields of both kinds of requests. */
const commonFields = [
  "model",
  "frequency_penalty",
  "logit_bias",
  "logprobs",
  "max_tokens",
  "n",
  "presence_penalty",
  "response_format",
  "seed",
  "stop",
  "stream",
  "stream_options",
  "temperature",
  "top_p",
  "user",
  "thinking_token_budget",
  "prompt_ignore_length",
  "best_of",
  "use_beam_search",
  "top_k",
  "top_p_min",
  "min_p",
  "repetition_penalty",
  "length_penalty",
  "early_stopping",
  "stop_token_ids",
  "include_stop_str_in_output",
  "ignore_eos",
  "min_tokens",
  "skip_special_tokens",
  "spaces_between_special_tokens",
  "truncate_prompt_tokens",
  "lora_request",
  "echo",
  "add_special_tokens",
  "disaggregated_params",
  "conversation_params",
  "priority",
];

/** The fields that a chat request may have. Versions from late 2026 on also take `parallel_tool_calls`. */
export const chatFields: ReadonlySet<string> = new Set([
  ...commonFields,
  "messages",
  "top_logprobs",
  "max_completion_tokens",
  "tools",
  "tool_choice",
  "reasoning_effort",
  "thinking",
  "add_generation_prompt",
  "documents",
  "chat_template",
  "chat_template_kwargs",
  "cache_salt",
]);

/** The fields that a completion request may have. It has no salt for the prefix cache. */
export const completionFields: ReadonlySet<string> = new Set([
  ...commonFields,
  "prompt",
  "suffix",
  "return_context_logits",
  "detokenize",
]);
