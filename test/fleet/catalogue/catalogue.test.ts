import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { configSchema } from "#src/config/schema.ts";
import { createCatalogue } from "#src/fleet/catalogue/catalogue.ts";

const servers = [{ url: "http://127.0.0.1:1" }];
const { models } = configSchema.parse({
  models: [
    { id: "org/chat", servers },
    { id: "org/embed", kind: "embedding", servers },
  ],
});
const catalogue = createCatalogue(models, new Date(0));

const reasonOf = (act: () => unknown) => {
  try {
    act();
  } catch (error) {
    return readDetail(error)?.reason;
  }
  return undefined;
};

test("lists models in the configured order and finds them by id and kind", () => {
  expect(catalogue.list().map((model) => model.id)).toEqual(["org/chat", "org/embed"]);
  expect(catalogue.ofKind("org/chat", "generation").id).toBe("org/chat");
  expect(catalogue.ofKind("org/embed", "embedding").kind).toBe("embedding");
});

test("a caller that may not use all models is shown no other", () => {
  const allowed = new Set(["org/embed", "org/gone"]);
  expect(catalogue.list(allowed).map((model) => model.id)).toEqual(["org/embed"]);
  expect(catalogue.get("org/embed", allowed).id).toBe("org/embed");
  expect(reasonOf(() => catalogue.get("org/chat", allowed))).toBe(Reason.MODEL_NOT_FOUND);
  expect(reasonOf(() => catalogue.ofKind("org/chat", "embedding", allowed))).toBe(Reason.MODEL_NOT_FOUND);
});

test.each([
  ["an unknown id", "gpt-4o", "generation", Reason.MODEL_NOT_FOUND],
  ["an empty id", "", "generation", Reason.MODEL_NOT_FOUND],
  ["another case", "ORG/CHAT", "generation", Reason.MODEL_NOT_FOUND],
  ["an embedding model asked to chat", "org/embed", "generation", Reason.MODEL_KIND_MISMATCH],
  ["a generation model asked to embed", "org/chat", "embedding", Reason.MODEL_KIND_MISMATCH],
] as const)("refuses %s", (_, id, kind, reason) => {
  expect(reasonOf(() => catalogue.ofKind(id, kind))).toBe(reason);
});
