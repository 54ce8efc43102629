/** A tool that the model asks its caller to run. */
export interface ToolCall {
  /** The call's place in the answer. */
  readonly index: number;
  readonly id: string;
  readonly name: string;
  /** JSON, as the model wrote it. */
  readonly input: string;
}

/** A piece of a tool call, or the whole of it. */
export type CallPiece = Pick<ToolCall, "index"> & Partial<ToolCall>;

/** Streams bring a call in pieces: first its name, then its input bit by bit. */
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
