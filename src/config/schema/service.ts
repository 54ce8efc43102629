import * as z from "zod";

/** An internal service that may call on behalf of accounts. */
export const service = z
  .strictObject({
    name: z.string().min(1).describe("The name of the service, for the log."),
    token_file: z.string().min(1).optional().describe("A file that holds the service token."),
    token_env: z.string().min(1).optional().describe("An environment variable that holds the service token."),
    accounts: z.array(z.string()).optional().describe("Accounts on whose behalf it may call. Default: any."),
  })
  .refine(
    (value) => (value.token_file === undefined) !== (value.token_env === undefined),
    "needs exactly one of token_file and token_env",
  );
