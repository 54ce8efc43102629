import { createSite, freePorts, startTollgate, type Tollgate } from "../support/tollgate.ts";

/** The real program after a few requests: answered, refused, unknown, and a proof of the books. */
export interface Exercised extends AsyncDisposable {
  readonly tollgate: Tollgate;
  readonly key: string;
  /** A key whose budget is spent. */
  readonly spentKey: string;
  /** The one chat that was answered: what the client was told and what its receipt says. */
  readonly answered: { readonly input: number; readonly output: number; readonly costUsd: number };
  /** Sends a request with the key, or with another one. */
  post(path: string, body: object, options?: { key?: string; signal?: AbortSignal }): Promise<Response>;
}

/** A request that is answered. */
export const chat = {
  model: "tollgate-sim/plain",
  messages: [{ role: "user", content: "Tell me about toll gates." }],
  max_tokens: 40,
  seed: 7,
};

/** A model that nobody serves. */
export const unknownModel = "of-somebody-elses";

export async function startExercised(env: NodeJS.ProcessEnv = {}): Promise<Exercised> {
  const site = await createSite(env);
  const tollgate = await startTollgate(site, "serve", "--config", await site.configure(freePorts));
  const { id } = (await tollgate.admin("accounts", "create", "--name", "test")) as { id: string };
  const { key } = (await tollgate.admin("keys", "create", id)) as { key: string };
  const poor = (await tollgate.admin("keys", "create", id, "--usd", "0.000000000001")) as { key: string };
  const post: Exercised["post"] = (path, body, options = {}) =>
    fetch(`${tollgate.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${options.key ?? key}` },
      body: JSON.stringify(body),
      signal: options.signal ?? null,
    });
  const plain = await post("/v1/chat/completions", chat);
  const { usage } = (await plain.json()) as { usage: { prompt_tokens: number; completion_tokens: number } };
  const receipt = await tollgate.admin("receipt", String(plain.headers.get("x-request-id")));
  await (await post("/v1/embeddings", { model: "tollgate-sim/embedder", input: ["one", "two"] })).text();
  await (await post("/v1/chat/completions", { ...chat, model: unknownModel })).text();
  await (await post("/v1/chat/completions", chat, { key: "tg-wrong" })).text();
  await tollgate.admin("reconcile");
  return {
    tollgate,
    key,
    spentKey: poor.key,
    answered: {
      input: usage.prompt_tokens,
      output: usage.completion_tokens,
      costUsd: Number((receipt as { cost_usd: string }).cost_usd),
    },
    post,
    async [Symbol.asyncDispose]() {
      await tollgate.stop();
      await site.remove();
    },
  };
}
