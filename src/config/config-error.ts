/** A configuration that cannot be used. The message has one line `file:line: field: what is wrong` for each mistake. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}
