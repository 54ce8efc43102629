import { Role } from "#gen/tollgate/inference/v1/conversation_pb.js";

/** The names of roles in chat templates and the engines' APIs. Unspecified roles were refused before. */
export const roleNames = {
  [Role.UNSPECIFIED]: "user",
  [Role.SYSTEM]: "system",
  [Role.USER]: "user",
  [Role.ASSISTANT]: "assistant",
  [Role.TOOL]: "tool",
} as const;
