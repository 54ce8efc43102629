import type { Exchange } from "../../http/exchange.ts";

/** The first fields of every answer and every chunk. */
export interface Head {
  /** The answer's id, made from the request's id. */
  readonly id: string;
  /** Seconds since the Unix epoch. */
  readonly created: number;
  /** The model by the name that the caller used. */
  readonly model: string;
}

/** The head of an answer to this request. */
export function createHead({ requestId, runtime }: Exchange, prefix: "chatcmpl-" | "cmpl-", model: string): Head {
  return { id: requestId.replace(/^req_/, prefix), created: Math.floor(runtime.clock.now() / 1000), model };
}
