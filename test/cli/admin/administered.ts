import { expect } from "@jest/globals";
import { type Outcome, runHere } from "../../support/run-here.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../../support/tollgate.ts";

export const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
export const uuid = /^[0-9a-f-]{36}$/;
export const testModel = "tollgate-sim/plain";

export let site: Site;
export let service: Tollgate;

export async function startAdministered(): Promise<void> {
  site = await createSite();
  const freeTier = { grant_usd: "0.5", rpm: 20 };
  const keep = [
    { name: "user", from: "user", hash: false },
    { name: "app", from: "header:x-title" },
  ];
  const config = { ...freePorts, free_tier: freeTier, labels: { keep } };
  service = await startTollgate(site, "serve", "--config", await site.configure(config));
}

export async function stopAdministered(): Promise<void> {
  expect(await service.stop()).toBe(0);
  await site.remove();
}

export const here = (...args: string[]) => runHere([...args, "--core", service.addresses.grpc ?? ""], site.env);

/** The JSON of a command that must succeed. */
export async function json(...args: string[]) {
  const { code, output, notes } = await here(...args, "--json");
  expect({ code, notes }).toEqual({ code: 0, notes: "" });
  return JSON.parse(output);
}

export async function refusal(...args: string[]): Promise<Outcome> {
  const outcome = await here(...args, "--json");
  expect({ code: outcome.code, output: outcome.output }).toEqual({ code: 1, output: "" });
  return outcome;
}

export async function newAccount(...options: string[]): Promise<string> {
  return (await json("accounts", "create", ...options)).id;
}

/** Asks for an answer and returns the status, the request's id and the body. */
export async function chat(key: string, model = testModel, { user, title }: { user?: string; title?: string } = {}) {
  const response = await fetch(`${service.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, ...(title === undefined ? {} : { "x-title": title }) },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }], max_tokens: 5, user }),
  });
  return {
    status: response.status,
    id: response.headers.get("x-request-id") ?? "",
    body: (await response.json()) as { usage: { prompt_tokens: number; completion_tokens: number } },
  };
}
