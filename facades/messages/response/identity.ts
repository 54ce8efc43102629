/** An answer's id: the request's id with this surface's prefix. */
export function messageId(requestId: string): string {
  return requestId.replace(/^(req_)?/, "msg_");
}

/** The signature of thinking blocks. Some clients treat unsigned thinking as text; nobody checks its content. */
export const thinkingSignature = "tollgate";
