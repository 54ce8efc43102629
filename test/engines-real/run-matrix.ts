import type { ModelFiles, RealEngine } from "./engine.ts";
import { startGate } from "./gate.ts";
import { contextLength } from "./model/models.ts";
import { freePort, type RunningProgram, startProgram } from "./programs.ts";
import { keepRecording } from "./recordings.ts";
import type { Bench, Row } from "./rows/row.ts";
import type { Outcome } from "./table.ts";
import { startTee } from "./tee.ts";

/** Starts an engine with Tollgate before it and runs the rows. Throws Unavailable when it does not start. */
export async function runMatrix(
  name: string,
  driver: RealEngine,
  models: ModelFiles,
  { record, rows }: { readonly record: boolean; readonly rows: readonly Row[] },
): Promise<Record<string, Outcome>> {
  const embeds = driver.cannot?.embeddings === undefined && rows.some((row) => row.embeds);
  const port = await freePort();
  const start = async (kind: "chat" | "embedding", at: number) => {
    const program = await startProgram(at, await driver.start(kind, at, models));
    await driver.prepare?.(program.url, models);
    return program;
  };
  const running: { chat: RunningProgram; embedding?: RunningProgram } = { chat: await start("chat", port) };
  try {
    await using chatTee = await startTee();
    await using embeddingTee = await startTee();
    chatTee.target = running.chat.url;
    if (embeds) {
      running.embedding = driver.isOneForAll ? running.chat : await start("embedding", await freePort());
      embeddingTee.target = running.embedding.url;
    }
    await using gate = await startGate({
      engine: driver.engine,
      chat: { url: running.chat.url, seenUrl: chatTee.url, name: driver.servedName("chat", models), contextLength },
      ...(running.embedding && {
        embedding: {
          url: running.embedding.url,
          seenUrl: embeddingTee.url,
          name: driver.servedName("embedding", models),
        },
      }),
    });
    const bench: Bench = {
      driver,
      gate,
      tee: chatTee,
      embeddingTee,
      engine: () => running.chat,
      async restart() {
        await running.chat.kill();
        running.chat = await start("chat", port);
      },
      keep: (row, exchange) => record && keepRecording(name, row, exchange),
    };
    const outcomes: Record<string, Outcome> = {};
    for (const row of rows) {
      outcomes[row.name] = await runRow(row, () => row.run(bench), driver);
      console.log(`  ${row.name}: ${outcomes[row.name]}`);
    }
    return outcomes;
  } finally {
    await running.chat.kill();
    await running.embedding?.kill();
  }
}

async function runRow(
  { name, embeds }: Row,
  run: () => Promise<string | undefined>,
  { cannot }: RealEngine,
): Promise<Outcome> {
  const reason = cannot?.[embeds ? "embeddings" : name];
  if (reason !== undefined) {
    return `none: ${reason}`;
  }
  try {
    const remark = await run();
    return remark === undefined ? "ok" : `ok: ${remark}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
