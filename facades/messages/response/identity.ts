/** An answer's name: the request's, under this surface's prefix. */
export function messageId(requestId: string): string {
  return requestId.replace(/^(req_)?/, "msg_");
}

/** Signs thinking blocks. Some clients treat unsigned thinking as text; nobody checks what the signature says. */
export const thinkingSignature = "tollgate";
