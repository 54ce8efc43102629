/** The first word of a header such as `Content-Type`, without its parameters and in lower case: "application/json". */
export function readMediaType(header: string): string {
  const end = header.indexOf(";");
  return (end === -1 ? header : header.slice(0, end)).trim().toLowerCase();
}
