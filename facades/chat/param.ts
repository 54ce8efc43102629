/** Fields of the core's requests and their names on this surface. Messages and tools keep their index. */
const names: readonly (readonly [core: RegExp, surface: string])[] = [
  [/^conversation\.messages\[(\d+)\]\.text$/, "messages[$1].content"],
  [/^conversation\.tools\[(\d+)\]\.parameters_json$/, "tools[$1].function.parameters"],
  [/^conversation\.tools\[(\d+)\]\.(\w+)$/, "tools[$1].function.$2"],
  [/^conversation\.tool_choice\.name$/, "tool_choice.function.name"],
  [/^conversation\.(.+)$/, "$1"],
  [/^conversation$/, "messages"],
  [/^text$/, "prompt"],
  [/^texts(.*)$/, "prompt$1"],
  [/^max_output_tokens$/, "max_tokens"],
  [/^sampling\.(.+)$/, "$1"],
  [/^stop_sequences.*$/, "stop"],
  [/^inputs.*$/, "input"],
  [/^limits\.budget_pico_usd$/, "limit"],
  [/^limits\.budget_period$/, "limit_reset"],
  [/^limits\.(.+)$/, "$1"],
];

/** This surface's name for a field of the core's request. Empty: no field. */
export function toParam(parameter: string): string {
  const found = names.find(([core]) => core.test(parameter));
  return found === undefined ? parameter : parameter.replace(found[0], found[1]);
}
