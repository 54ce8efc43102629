/** Carries messages between the cores of one service. What is sent may be lost, but comes whole and soon or not at all. */
export interface FleetChannel {
  /** Sends a message to all cores, this one too. It is lost while there is no connection. */
  send(message: Uint8Array): void;
  /** Names who is told of every message from now on. */
  listen(hear: (message: Uint8Array) => void): void;
  close(): Promise<void>;
}
