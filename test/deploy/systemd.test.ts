import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import { defaultConfig } from "../../src/config/load.ts";
import { parseCommand, readDeploy, root } from "./files.ts";

// No systemd runs here: the unit is held against the directives that systemd.unit(5), systemd.service(5),
// systemd.exec(5) and systemd.kill(5) have, and against the program.

const directives: Record<string, string> = {
  Unit: "Description Documentation Wants After",
  Service: `Type ExecStart ExecReload Environment EnvironmentFile Restart RestartSec KillMode TimeoutStopSec
    LimitNOFILE DynamicUser StateDirectory StateDirectoryMode UMask CapabilityBoundingSet AmbientCapabilities NoNewPrivileges
    LockPersonality PrivateDevices PrivateTmp ProtectClock ProtectControlGroups ProtectHome ProtectHostname
    ProtectKernelLogs ProtectKernelModules ProtectKernelTunables ProtectProc ProtectSystem RemoveIPC
    RestrictAddressFamilies RestrictNamespaces RestrictRealtime RestrictSUIDSGID SystemCallArchitectures
    SystemCallFilter SystemCallErrorNumber`,
  Install: "WantedBy",
};

const settings = new Map<string, string>();
const unknown: string[] = [];

beforeAll(async () => {
  let section = "";
  for (const line of (await readDeploy("systemd/tollgate.service")).split("\n")) {
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
});

test("has only directives that exist, each in its section", () => {
  expect(unknown).toEqual([]);
});

test("starts a command that exists, with files that a clone has", async () => {
  const [node = "", program = "", ...args] = settings.get("ExecStart")?.split(" ") ?? [];
  for (const path of [node, program]) {
    expect(existsSync(join(root, path.replace("/opt/tollgate/", "")))).toBe(true);
  }
  expect(await parseCommand(args)).toMatchObject({ command: "serve", config: "/etc/tollgate/tollgate.yaml" });
});

test("keeps its state where the unit may write, for its user alone", () => {
  expect(settings.get("Environment")).toContain(`TOLLGATE_DATA_DIR=%S/${settings.get("StateDirectory")}`);
  expect([settings.get("ProtectSystem"), settings.get("StateDirectoryMode")]).toEqual(["strict", "0700"]);
});

test("lets streams finish before it kills", () => {
  expect(Number(settings.get("TimeoutStopSec"))).toBeGreaterThan(defaultConfig().shutdown.grace_s + 1);
  expect(settings.get("KillMode")).toBe("mixed");
});
