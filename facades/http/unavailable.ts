/** Features that clients know from elsewhere and that this service does not have, by the start of their path. */
const features: readonly (readonly [path: string, feature: string])[] = [
  ["/v1/responses", "The responses API is"],
  ["/v1/images", "The images API is"],
  ["/v1/audio", "The audio API (speech and transcription) is"],
  ["/v1/assistants", "The assistants API is"],
  ["/v1/threads", "The assistants API is"],
  ["/v1/vector_stores", "The assistants API is"],
  ["/v1/fine_tuning", "The fine-tuning API is"],
  ["/v1/batches", "The batches API is"],
  ["/v1/messages/batches", "The message-batches API is"],
  ["/v1/files", "The files API is"],
  ["/v1/uploads", "The files API is"],
  ["/v1/moderations", "The moderations API is"],
  ["/v1/realtime", "The realtime API is"],
];

/** Why a path leads nowhere. */
export function unknownPath(method: string, path: string): string {
  const found = features.find(([start]) => path === start || path.startsWith(`${start}/`));
  return found === undefined
    ? `There is no endpoint ${method} ${path}.`
    : `${found[1]} not available on this service (${method} ${path}).`;
}
