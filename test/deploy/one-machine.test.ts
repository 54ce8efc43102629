import { readFile } from "node:fs/promises";
import { expect, test } from "@jest/globals";
import { loadConfig } from "#src/config/load.ts";
import { listPorts, movePorts } from "#src/config/ports/move-ports.ts";
import { listDeploy, root } from "./files.ts";

const file = "one-machine/tollgate.yaml";
const { listen } = await loadConfig(`${root}/deploy/${file}`);
const page = await readFile(`${root}/docs/deployment.md`, "utf8");

test("the processes that the page starts share the HTTP port, and no other address", () => {
  const commands = page.match(new RegExp(`serve --config deploy/${file} --port \\d+`, "g")) ?? [];
  const [one = [], other = []] = commands.map((command) =>
    listPorts(movePorts(listen, Number(command.split(" ").at(-1)))),
  );
  expect(commands).toHaveLength(2);
  expect(one.filter((port) => other.includes(port))).toEqual([Number(listen.http.split(":").at(-1))]);
});

test("the command for all of it begins where the page says", async () => {
  const script = await readFile(`${root}/scripts/one-machine/start.ts`, "utf8");
  const first = Number(/firstPort = ([\d_]+)/.exec(script)?.[1]?.replace("_", ""));
  for (const [at, name] of (["grpc", "admin"] as const).entries()) {
    expect(page).toContain(movePorts(listen, first + 10 * at)[name]);
  }
  expect(page).toContain(`http://${listen.http}`);
});

test("the page about it names every file to deploy", async () => {
  for (const one of await listDeploy("")) {
    const folder = one.split("/")[0] ?? "";
    if (!/^(grafana|prometheus|tollgate|healthcheck)/.test(folder) && !folder.endsWith("ignore")) {
      expect(page).toContain(`deploy/${folder}`);
    }
  }
});
