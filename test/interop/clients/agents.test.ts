import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { expectDescribedRequest } from "../../facades/http/openapi.ts";
import { decodeStream } from "../../facades/messages/response/stream-grammar.ts";
import { dialects, models, type Service, startService } from "../../support/service.ts";
import { agentRequests } from "./agents.ts";

let service: Service;
describe.each(dialects)("over %s", (dialect) => {
  beforeAll(async () => {
    service = await startService(dialect);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  const cases = agentRequests.flatMap((request) => [models.plain, models.on].map((model) => ({ ...request, model })));

  test.each(cases)("$agent, with $model", async ({ path, headers, body, model }) => {
    const withoutNulls = JSON.parse(JSON.stringify({ model, ...body }, (_, value) => value ?? undefined));
    expectDescribedRequest(path.replace("?beta=true", ""), withoutNulls); // the document has no word for null as absent
    const response = await fetch(service.url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${service.key}`, ...headers },
      body: JSON.stringify({ model, ...body }),
    });
    const answer = await response.text();
    expect({ status: response.status, answer }).toMatchObject({ status: 200 });
    if (body.stream !== true) {
      expect(JSON.parse(answer)).toMatchObject({ type: "message", usage: { output_tokens: 1 } });
    } else if (path.startsWith("/v1/messages")) {
      decodeStream(answer);
    } else {
      const chunks = answer.trimEnd().split("\n\n");
      expect(chunks.pop()).toBe("data: [DONE]");
      const usages = chunks.map((chunk) => JSON.parse(chunk.replace("data: ", "")).usage ?? undefined);
      expect(usages.filter((usage) => usage !== undefined)).toEqual([usages.at(-1)]);
    }
  });
});
