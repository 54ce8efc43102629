/** Features that clients know from elsewhere and that this service does not have, by the start of their path. */
const features: readonly (readonly [path: string, feature: string])[] = [
  ["/v1/responses", "responses API"],
  ["/v1/images", "images API"],
  ["/v1/audio", "audio API (speech and transcription)"],
  ["/v1/assistants", "assistants API"],
  ["/v1/threads", "assistants API"],
  ["/v1/vector_stores", "assistants API"],
  ["/v1/fine_tuning", "fine-tuning API"],
  ["/v1/batches", "batches API"],
  ["/v1/messages/batches", "message-batches API"],
  ["/v1/files", "files API"],
  ["/v1/uploads", "files API"],
  ["/v1/moderations", "moderations API"],
  ["/v1/realtime", "realtime API"],
];

/** Why a path leads nowhere. */
export function unknownPath(method: string, path: string): string {
  const feature = features.find(([start]) => isBelow(path, start))?.[1];
  return feature === undefined
    ? `There is no endpoint ${method} ${path}.`
    : `The ${feature} is not available on this service (${method} ${path}).`;
}

/** Whether a path belongs to the messages-style surface alone. */
export function isMessagesPath(path: string): boolean {
  return isBelow(path, "/v1/messages");
}

/** Whether a path belongs to the chat-completions-style surface alone: its endpoints, and features of its kind. */
export function isChatPath(path: string): boolean {
  return chatPaths.some((start) => isBelow(path, start));
}

/** Both kinds of clients know a files API, so that its path tells nothing. */
const chatPaths = ["/v1/chat", "/v1/completions", "/v1/embeddings", "/test-auth"].concat(
  features.map(([start]) => start).filter((start) => start !== "/v1/files" && !isMessagesPath(start)),
);

function isBelow(path: string, start: string): boolean {
  return path === start || path.startsWith(`${start}/`);
}
