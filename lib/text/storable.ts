/** Whether every database stores a text as it is: PostgreSQL takes no NUL, and half of a surrogate pair is no text. */
export const isStorable = (text: string): boolean => !text.includes("\0") && text.isWellFormed();
