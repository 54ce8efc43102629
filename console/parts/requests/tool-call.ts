/** A tool that the model asks its caller to run. */
export interface ToolCall {
  /** The call's index in the answer. */
  readonly index: number;
  readonly id: string;
  readonly name: string;
  /** JSON, as the model wrote it. */
  readonly input: string;
}

/** A piece of a tool call, or all of it. */
export type CallPiece = Pick<ToolCall, "index"> & Partial<ToolCall>;

/** Adds pieces to calls. Streams bring a call's name first, then its input piece by piece. */
export function addCalls(before: readonly ToolCall[], pieces: readonly CallPiece[]): readonly ToolCall[] {
  const calls = new Map(before.map((call) => [call.index, call]));
  for (const { index, id = "", name = "", input = "" } of pieces) {
    const known = calls.get(index);
    calls.set(index, {
      index,
      id: known?.id || id,
      name: known?.name || name,
      input: (known?.input ?? "") + input,
    });
  }
  return [...calls.values()];
}
