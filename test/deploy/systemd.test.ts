import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { defaultConfig, parseConfig } from "#src/config/load.ts";
import { listPorts, movePorts } from "#src/config/ports/move-ports.ts";
import { parseCommand, readDeploy, root } from "./files.ts";

// No systemd runs here: the units are held against the directives that systemd.unit(5), systemd.service(5),
// systemd.exec(5) and systemd.kill(5) have, and against the program.

const directives: Record<string, string> = {
  Unit: "Description Documentation Wants After",
  Service: `Type ExecStart ExecReload Environment EnvironmentFile Restart RestartSec KillMode TimeoutStopSec
    LimitNOFILE User DynamicUser StateDirectory StateDirectoryMode UMask CapabilityBoundingSet AmbientCapabilities NoNewPrivileges
    LockPersonality PrivateDevices PrivateTmp ProtectClock ProtectControlGroups ProtectHome ProtectHostname
    ProtectKernelLogs ProtectKernelModules ProtectKernelTunables ProtectProc ProtectSystem RemoveIPC
    RestrictAddressFamilies RestrictNamespaces RestrictRealtime RestrictSUIDSGID SystemCallArchitectures
    SystemCallFilter SystemCallErrorNumber`,
  Install: "WantedBy",
};

const units = ["tollgate.service", "tollgate@.service"] as const;
const read = new Map(await Promise.all(units.map(async (unit) => [unit, await readUnit(unit)] as const)));
const settingsOf = (unit: string) => read.get(unit as (typeof units)[number])?.settings ?? new Map<string, string>();

async function readUnit(unit: string) {
  const settings = new Map<string, string>();
  const unknown: string[] = [];
  let section = "";
  for (const line of (await readDeploy(`systemd/${unit}`)).split("\n")) {
    const [, header] = /^\[(\w+)\]$/.exec(line) ?? [];
    const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (header !== undefined) {
      section = header;
    } else if (name !== undefined && value !== undefined) {
      settings.set(name, value);
      if (!directives[section]?.split(/\s+/).includes(name)) {
        unknown.push(`${section}: ${name}`);
      }
    } else if (!/^(#.*)?$/.test(line)) {
      unknown.push(line);
    }
  }
  return { settings, unknown };
}

test.each(units)("%s has only directives that exist, each in its section", (unit) => {
  expect(read.get(unit)?.unknown).toEqual([]);
});

test.each(units)("%s starts a command that exists, with files that a clone has", async (unit) => {
  const [node = "", program = "", ...args] = settingsOf(unit).get("ExecStart")?.replace("%i", "1").split(" ") ?? [];
  for (const path of [node, program]) {
    expect(existsSync(join(root, path.replace("/opt/tollgate/", "")))).toBe(true);
  }
  expect(await parseCommand(args)).toMatchObject({ command: "serve", config: "/etc/tollgate/tollgate.yaml" });
});

test.each(units)("%s keeps its state where the unit may write, for its user alone", (unit) => {
  const settings = settingsOf(unit);
  expect(settings.get("Environment")).toContain(`TOLLGATE_DATA_DIR=%S/${settings.get("StateDirectory")}`);
  expect([settings.get("ProtectSystem"), settings.get("StateDirectoryMode")]).toEqual(["strict", "0700"]);
});

test.each(units)("%s lets streams finish before it kills", (unit) => {
  const settings = settingsOf(unit);
  expect(Number(settings.get("TimeoutStopSec"))).toBeGreaterThan(defaultConfig().shutdown.grace_s + 1);
  expect(settings.get("KillMode")).toBe("mixed");
});

test("processes 1 to 9 share the HTTP port and no other one, as one user", async () => {
  const settings = settingsOf("tollgate@.service");
  const { listen } = parseConfig("listen: { reuse_port: true }", "tollgate.yaml");
  const ports: number[] = [];
  for (let process = 1; process <= 9; process++) {
    const [, , ...args] = settings.get("ExecStart")?.replace("%i", String(process)).split(" ") ?? [];
    const { port } = await parseCommand(args);
    ports.push(...listPorts(movePorts(listen, Number(port))).filter((one) => one !== 8080));
  }
  expect(ports).toHaveLength(45);
  expect(new Set(ports).size).toBe(45);
  expect(settings.get("User")).toBe("tollgate");
});

test("both units confine the program in the same way", () => {
  const confined = (unit: string) =>
    [...settingsOf(unit)].filter(([name]) => !["ExecStart", "Description", "EnvironmentFile", "User"].includes(name));
  expect(confined("tollgate@.service")).toEqual(confined("tollgate.service"));
});
