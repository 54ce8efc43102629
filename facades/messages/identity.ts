/** An answer's name: its receipt is found by what follows the prefix. */
export function messageId(requestId: string): string {
  return `msg_${requestId}`;
}

/** Signs thinking blocks. Some clients treat unsigned thinking as text; nobody checks what the signature says. */
export const SIGNATURE = "tollgate";
