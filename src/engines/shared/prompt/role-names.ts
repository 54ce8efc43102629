import { Role } from "#gen/tollgate/inference/v1/conversation_pb.js";

/** Roles as chat templates and the engines' APIs name them. One that is not said is refused before it comes here. */
export const roleNames = {
  [Role.UNSPECIFIED]: "user",
  [Role.SYSTEM]: "system",
  [Role.USER]: "user",
  [Role.ASSISTANT]: "assistant",
  [Role.TOOL]: "tool",
} as const;
