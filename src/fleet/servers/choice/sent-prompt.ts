/** A prompt that was sent to a server and what was believed about it, kept until the server has answered. */
export class SentPrompt {
  count = 0;
  hashes = new Int32Array(0);
  ends = new Int32Array(0);
  /** The prompt's tokens, estimated. */
  tokens = 0;
  /** Tokens of its beginning that the server was believed to have in its cache. */
  knownTokens = 0;
  /**
   * The last use of that beginning's last block, by the use counter of the server's cache. Undefined: the block was not
   * in the cache.
   */
  usedAt: number | undefined;
  /** Whether the prompt continues an earlier answer, and its server was chosen for having read that. */
  isReturn = false;
  /** Whether the prompt was answered. The object may hold another prompt by then. */
  isOver = true;
}
