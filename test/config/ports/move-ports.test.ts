import { expect, test } from "@jest/globals";
import { defaultConfig } from "#src/config/load.ts";
import { consoleAddress, listPorts, maxBasePort, movePorts } from "#src/config/ports/move-ports.ts";

const { listen } = defaultConfig();

test("all listeners move together and keep their hosts; the port after the first is the console's", () => {
  expect(movePorts({ ...listen, http: "[::1]:8080" }, 9000)).toEqual({
    ...listen,
    http: "[::1]:9000",
    console: "127.0.0.1:9001",
    grpc: "127.0.0.1:9002",
    connect: "127.0.0.1:9003",
    admin: "127.0.0.1:9004",
    webhooks: "127.0.0.1:9005",
  });
});

test("a port of the public surfaces that other processes share stays, the others move", () => {
  expect(movePorts({ ...listen, http: "0.0.0.0:80", reuse_port: true }, 9000)).toMatchObject({
    http: "0.0.0.0:80",
    grpc: "127.0.0.1:9002",
    admin: "127.0.0.1:9004",
  });
});

test("0 lets the system choose each, and the highest port leaves room", () => {
  expect(new Set(listPorts(movePorts(listen, 0)))).toEqual(new Set([0]));
  expect(Math.max(...listPorts(movePorts(listen, maxBasePort)))).toBe(65_535);
});

test("the console is where it is configured, else at its usual port, unless the system chooses ports", () => {
  expect(consoleAddress({ ...listen, console: "127.0.0.1:1" })).toBe("127.0.0.1:1");
  expect(consoleAddress(listen)).toBe("127.0.0.1:8081");
  expect(consoleAddress({ ...listen, http: "127.0.0.1:0" })).toBe("127.0.0.1:0");
});
