import { expect, test } from "@jest/globals";
import { chatServiceRoutes } from "#gen/tollgate/chat/v1/chat_service_http.js";
import { ChatService } from "#gen/tollgate/chat/v1/chat_service_pb.js";
import { keysServiceRoutes } from "#gen/tollgate/chat/v1/keys_service_http.js";
import { messagesServiceRoutes } from "#gen/tollgate/messages/v1/messages_service_http.js";
import { MessagesService } from "#gen/tollgate/messages/v1/messages_service_pb.js";

test("a table has each method with its verb and path", () => {
  // Descriptors are compared by identity: to print how two differ takes more memory than there is.
  const named = Object.entries(chatServiceRoutes).map(([name, { verb, path, method }]) => [
    name,
    `${verb} ${path}`,
    method === ChatService.method[name as keyof typeof ChatService.method],
  ]);
  expect(named).toEqual([
    ["createChatCompletion", "POST /v1/chat/completions", true],
    ["createCompletion", "POST /v1/completions", true],
    ["createEmbedding", "POST /v1/embeddings", true],
    ["listModels", "GET /v1/models", true],
    ["getModel", "GET /v1/models/{id=**}", true],
    ["getCosts", "POST /v1/costs", true],
    ["testAuth", "GET /test-auth", true],
    ["getKey", "GET /v1/key", true],
    ["getCredits", "GET /v1/credits", true],
    ["getGeneration", "GET /v1/generation", true],
    ["getUsage", "GET /v1/usage", true],
    ["listSeals", "GET /v1/seals", true],
    ["listPrices", "GET /v1/prices", true],
    ["listMonths", "GET /v1/months", true],
    ["getStatement", "GET /v1/statement", true],
  ]);
  expect(Object.keys(messagesServiceRoutes)).toEqual(Object.keys(MessagesService.method));
});

test("a table has every verb, and parts of a path by name", () => {
  const routes = Object.values<{ readonly verb: string; readonly path: string }>(keysServiceRoutes);
  expect(routes.map(({ verb, path }) => `${verb} ${path}`)).toEqual([
    "GET /v1/keys",
    "POST /v1/keys",
    "GET /v1/keys/{hash}",
    "PATCH /v1/keys/{hash}",
    "DELETE /v1/keys/{hash}",
  ]);
});
