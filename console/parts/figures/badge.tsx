import type { ComponentChildren } from "preact";

export type Tone = "good" | "warn" | "bad" | "plain";

/** A state in a word. Its colour says nothing that the word does not. */
export function Badge({ tone = "plain", children }: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}
