// Facts of the schema that need no Zod: commands that ask a core read secrets, and need not load Zod for that.

/** The beginning of a PostgreSQL URL. */
export const postgresqlUrl = /^postgres(ql)?:\/\//;
/** The most further databases of accounts. */
export const mostShards = 63;
