import { createClient, type Transport } from "@connectrpc/connect";
import type { Command } from "commander";
import { BooksService } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { readAll } from "#lib/rpc/pages.ts";
import { tokens } from "../../shared/arguments.ts";
import type { Io } from "../../shared/io.ts";
import { addQuestion } from "../ask-core.ts";
import { deadLetterDocument } from "../output/metering-documents.ts";
import { required } from "../required.ts";

/** `tollgate charges …` */
export function addCharges(program: Command, io: Io): void {
  const group = program.command("charges").description("charges that could not be made");
  const client = (core: Transport) => createClient(BooksService, core);

  addQuestion<[], object>(group, "list", io, {
    description: "list the charges that could not be made, and why",
    ask: async (core) =>
      (
        await readAll(
          (page) => client(core).listDeadLetters(page),
          ({ deadLetters }) => deadLetters,
        )
      ).map(deadLetterDocument),
  });
  addQuestion<[string], { inputTokens?: bigint; outputTokens?: bigint }>(group, "settle <id>", io, {
    description: "make a charge after all; what the account cannot pay becomes its debt",
    options: (command) =>
      command
        .option("--input-tokens <n>", "input tokens to charge instead of the noted number", tokens)
        .option("--output-tokens <n>", "output tokens to charge instead of the noted number", tokens),
    ask: async (core, { inputTokens, outputTokens }, id) => {
      const settled = await client(core).settleDeadLetter({
        deadLetterId: id,
        ...(inputTokens === undefined ? {} : { inputTokens }),
        ...(outputTokens === undefined ? {} : { outputTokens }),
      });
      return { id, request_id: settled.requestId, account_id: settled.accountId };
    },
  });
  addQuestion<[string], object>(group, "drop <id>", io, {
    description: "forget a charge: its request is never charged",
    ask: async (core, _, id) =>
      deadLetterDocument(required((await client(core).dropDeadLetter({ deadLetterId: id })).deadLetter)),
  });
}
