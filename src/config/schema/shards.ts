// Facts of the schema that stand without its library: commands that ask a core read secrets, and load no Zod for that.

/** The start of an address of PostgreSQL. */
export const postgresqlUrl = /^postgres(ql)?:\/\//;
/** Further databases of accounts. */
export const mostShards = 63;
