/** The path to a field, such as `["models", 0, "id"]`. */
export type Path = readonly PropertyKey[];

/** `["models", 0, "id"]` as `models[0].id`. */
export function formatPath(path: Path): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") {
      return `${text}[${part}]`;
    }
    return text === "" ? String(part) : `${text}.${String(part)}`;
  }, "");
}
