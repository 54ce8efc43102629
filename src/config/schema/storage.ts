import * as z from "zod";

/** The database. */
export const storage = z
  .strictObject({
    url: z
      .string()
      .regex(/^(sqlite:|postgres(ql)?:\/\/)/, "must start with sqlite: or postgresql://")
      .optional()
      .describe(
        "sqlite:PATH or postgresql://…, of several servers (postgresql://user@a:5432,b:5432/db) the one that takes writes; TOLLGATE_STORAGE_URL wins. Default: tollgate.db in the data directory.",
      ),
    schema: z
      .string()
      .regex(/^[a-z_][a-z0-9_]{0,62}$/, "must be a name of small letters, digits and underscores")
      .optional()
      .describe(
        "The schema of the tables in PostgreSQL, made at the first start: several services can share a database. Default: that of the role's search_path.",
      ),
    listen_url: z
      .string()
      .regex(/^postgres(ql)?:\/\//, "must start with postgresql://")
      .optional()
      .describe(
        "Behind a pooler of transactions: postgresql://… of PostgreSQL itself, where each core hears the others over one connection. TOLLGATE_STORAGE_LISTEN_URL wins. Default: storage.url.",
      ),
    read_url: z
      .string()
      .regex(/^postgres(ql)?:\/\//, "must start with postgresql://")
      .optional()
      .describe(
        "A standby of PostgreSQL, postgresql://…, of several servers the standby that is furthest: it answers long reads, which then tell how old they are. TOLLGATE_STORAGE_READ_URL wins. Default: the primary answers all.",
      ),
    read_max_age_s: z
      .number()
      .min(10)
      .max(3600)
      .default(30)
      .describe("How old what the standby tells may be. The primary answers while it is older."),
  })
  .prefault({});

/** The store that counts requests. */
export const rateLimits = z
  .strictObject({
    url: z
      .string()
      .regex(/^(memory:$|rediss?:\/\/)/, "must be memory: or start with redis://")
      .default("memory:")
      .describe("memory: for one core, redis://… for several; TOLLGATE_RATE_LIMIT_URL wins."),
  })
  .prefault({});
