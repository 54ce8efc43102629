import { expect, test } from "@jest/globals";
import { chatServiceRoutes } from "#gen/tollgate/chat/v1/chat_service_http.js";
import { ChatService } from "#gen/tollgate/chat/v1/chat_service_pb.js";
import { keysServiceRoutes } from "#gen/tollgate/chat/v1/keys_service_http.js";
import { messagesServiceRoutes } from "#gen/tollgate/messages/v1/messages_service_http.js";
import { MessagesService } from "#gen/tollgate/messages/v1/messages_service_pb.js";

test("a table has each method with its verb and path", () => {
  expect(chatServiceRoutes).toEqual({
    createChatCompletion: {
      verb: "POST",
      path: "/v1/chat/completions",
      method: ChatService.method.createChatCompletion,
    },
    createCompletion: { verb: "POST", path: "/v1/completions", method: ChatService.method.createCompletion },
    createEmbedding: { verb: "POST", path: "/v1/embeddings", method: ChatService.method.createEmbedding },
    listModels: { verb: "GET", path: "/v1/models", method: ChatService.method.listModels },
    getModel: { verb: "GET", path: "/v1/models/{id=**}", method: ChatService.method.getModel },
    testAuth: { verb: "GET", path: "/test-auth", method: ChatService.method.testAuth },
    getKey: { verb: "GET", path: "/v1/key", method: ChatService.method.getKey },
    getCredits: { verb: "GET", path: "/v1/credits", method: ChatService.method.getCredits },
    getGeneration: { verb: "GET", path: "/v1/generation", method: ChatService.method.getGeneration },
    getUsage: { verb: "GET", path: "/v1/usage", method: ChatService.method.getUsage },
  });
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
