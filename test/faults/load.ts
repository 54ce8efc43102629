import { inspect } from "node:util";
import { pause } from "../support/pause.ts";
import { testModel, token } from "./metronome.ts";

/** The characters that are kept of what a failed request was told. */
const longestFault = 1000;
/** How often one asks again that a busy machine refuses, and after how many milliseconds. */
const mostTries = 100;
const triesAfterMs = 200;

/** One request as its client saw it. Kept outside of the program, to be compared with the books later. */
export interface Asked {
  readonly name: string;
  /** From the response's head. Undefined: none came. */
  id?: string;
  /** 0: no response came. */
  status: number;
  /** The tokens that reached the client, whole answer or not. */
  seen: number;
  /** The usage that the client was told at the end of a whole answer. */
  acknowledged?: { readonly inputTokens: number; readonly outputTokens: number; readonly costUsd: string };
  /** What a refusal or a broken connection said. */
  fault?: string;
}

/**
 * Asks as clients do, and remembers what they were told. Who is told that the service has more work than it can do, which on
 * a busy machine it may have, asks anew; that request is forgotten.
 */
export class Load {
  readonly asked: Asked[] = [];
  readonly #key: string;
  readonly #prefix: string;
  #names = 0;
  #stopping = false;
  /** Milliseconds between two requests of a client. */
  #restMs = 0;
  readonly #clients: Promise<void>[] = [];

  /** `prefix`: how its requests' names begin, where several loads ask at once. */
  constructor(key: string, prefix = "request") {
    this.#key = key;
    this.#prefix = prefix;
  }

  /** Requests whose whole answer and usage have reached their client. */
  get acknowledged(): Asked[] {
    return this.asked.filter(({ acknowledged }) => acknowledged !== undefined);
  }

  /** Keeps so many clients asking at once, each at the next of the URLs, until finish is called. */
  start(clients: number, urls: readonly string[], tokens: number): void {
    for (let at = 0; at < clients; at++) {
      this.#clients.push(this.#ask(urls[at % urls.length] ?? "", tokens));
    }
  }

  /** From now on each client waits so long between two requests: while nothing happens that they have to be amid. */
  rest(ms: number): void {
    this.#restMs = ms;
  }

  async #ask(url: string, tokens: number): Promise<void> {
    while (!this.#stopping) {
      const { status } = await this.stream(url, tokens);
      if (status !== 200) {
        await pause(200, "a refused client asks again a little later");
      } else if (this.#restMs > 0) {
        await pause(this.#restMs, "a client that rests");
      }
    }
  }

  /** Lets the clients go after their running requests. */
  async finish(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#clients);
  }

  /** Asks for one streamed answer and reads it to its end, wherever that comes. */
  async stream(url: string, tokens: number): Promise<Asked> {
    for (let tries = 1; ; tries++) {
      const asked = await this.#streamOnce(url, tokens);
      if (tries >= mostTries || !isShed(asked)) {
        return asked;
      }
      this.asked.splice(this.asked.indexOf(asked), 1);
      await pause(triesAfterMs, "a client that is refused asks again a little later");
    }
  }

  async #streamOnce(url: string, tokens: number): Promise<Asked> {
    const asked: Asked = { name: `${this.#prefix}-${this.#names++}`, status: 0, seen: 0 };
    this.asked.push(asked);
    try {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${this.#key}` },
        body: JSON.stringify({
          ...{ model: testModel, stream: true, stream_options: { include_usage: true }, max_tokens: tokens },
          messages: [{ role: "user", content: `${asked.name} ${tokens}` }],
        }),
      });
      asked.status = response.status;
      let text = "";
      const id = response.headers.get("x-request-id");
      if (id !== null) {
        asked.id = id;
      }
      for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += piece;
        asked.seen += piece.split(token).length - 1;
      }
      const usage = usageOf(text);
      if (usage !== undefined) {
        asked.acknowledged = usage;
      } else {
        asked.fault = text.slice(-longestFault);
      }
    } catch (error) {
      asked.fault = inspect(error).slice(0, longestFault); // the connection went with the process
    }
    return asked;
  }
}

/** Whether a request was refused before anything was done for it. */
function isShed({ status, fault = "" }: Asked): boolean {
  return status === 503 && fault.includes('"code":"overloaded"');
}

/** The usage at the end of a whole stream. */
function usageOf(text: string): Asked["acknowledged"] {
  const events = text.split("\n\n").filter((event) => event.startsWith("data: "));
  if (events.at(-1) !== "data: [DONE]") {
    return undefined;
  }
  const last = events.at(-2)?.slice("data: ".length) ?? "";
  const { usage } = JSON.parse(last);
  const costUsd = /"cost":"?([\d.]+)/.exec(last)?.[1] ?? ""; // to its last digit
  return { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens, costUsd };
}
