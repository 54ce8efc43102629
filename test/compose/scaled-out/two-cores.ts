import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import pg from "pg";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { defaultFleetConfig, startDefaultFleet } from "../../../simulator/fleet.ts";
import { createSite, freePorts, startTollgate, type Tollgate } from "../../support/tollgate.ts";

const postgres = process.env.TOLLGATE_TEST_POSTGRES_URL ?? "";
export const redis = process.env.TOLLGATE_TEST_REDIS_URL ?? "";

/** An account with money and a key of it. */
export interface Customer {
  readonly account: string;
  readonly id: string;
  readonly key: string;
}

/** Two cores and a facade in processes of their own, on a real PostgreSQL and a real Redis. */
export interface TwoCores {
  /** Those that run. */
  readonly cores: readonly Tollgate[];
  /** Runs an admin command against the last core. */
  admin(...args: string[]): Promise<unknown>;
  /** `rpm`: the limit of its key. */
  customer(rpm: string): Promise<Customer>;
  /** Asks the facade. */
  ask(key: string, content?: string): Promise<Response>;
  /** The cores' own doors: Connect and gRPC of each. */
  doors(): readonly Transport[];
  /** Kills the first core. */
  killFirst(): Promise<void>;
  /** Starts the first core again, with what it left. */
  restartFirst(): Promise<void>;
  close(): Promise<void>;
}

export async function startTwoCores(): Promise<TwoCores> {
  const database = `tollgate_scaled_${process.pid}`;
  await onServer(`create database ${database}`);
  const url = new URL(postgres);
  url.pathname = `/${database}`;
  const shared = {
    TOLLGATE_STORAGE_URL: url.href,
    TOLLGATE_RATE_LIMIT_URL: redis,
    TOLLGATE_OPERATOR_TOKEN: "operator-token-of-the-test-0123456789",
    TOLLGATE_KEY_PEPPER: "pepper-of-the-test-0123456789abcdef-0123456789",
  };
  const fleet = await startDefaultFleet({ speed: 0 });
  const [first, second, third] = await Promise.all([createSite(shared), createSite(shared), createSite(shared)]);
  const startCore = async (site: typeof first) => {
    const config = { ...freePorts, models: defaultFleetConfig(fleet) };
    return startTollgate(site, "core", "--config", await site.configure(config));
  };
  let cores: readonly [Tollgate, ...Tollgate[]] = [await startCore(first), await startCore(second)];
  const target = `ipv4:${cores.map(({ addresses }) => addresses.grpc).join(",")}`;
  const facade = await startTollgate(third, "facade", "--core", target, "--config", await third.configure(freePorts));
  const admin = (...args: string[]) => (cores.at(-1) ?? cores[0]).admin(...args);
  return {
    get cores() {
      return cores;
    },
    admin,
    async customer(rpm) {
      const { id: account } = (await admin("accounts", "create", "--name", "customer")) as { id: string };
      await admin("accounts", "top-up", account, "--usd", "10", "--ref", `payment-${account}`);
      return { account, ...((await admin("keys", "create", account, "--rpm", rpm)) as { id: string; key: string }) };
    },
    ask: (key, content = "Tell me about toll gates.") =>
      fetch(`${facade.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({ model: "tollgate-sim/plain", max_tokens: 20, messages: [{ role: "user", content }] }),
      }),
    doors: () =>
      cores.flatMap(({ addresses }) => [
        createConnectTransport({ baseUrl: `http://${addresses.connect}`, httpVersion: "1.1" }),
        createGrpcTransport({ baseUrl: `http://${addresses.grpc}` }),
      ]),
    async killFirst() {
      const [victim, ...others] = cores;
      await victim.stop("SIGKILL");
      cores = others as [Tollgate];
    },
    async restartFirst() {
      cores = [await startCore(first), ...cores];
    },
    async close() {
      await Promise.all([facade, ...cores].map((tollgate) => tollgate.stop()));
      await Promise.all(fleet.map((simulator) => simulator.close()));
      await Promise.all([first, second, third].map((site) => site.remove()));
      await onServer(`drop database if exists ${database} with (force)`);
    },
  };
}

async function onServer(statement: string): Promise<void> {
  const client = new pg.Client(postgres);
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

/** Asks a core at a door of its own. Returns the output tokens that were counted, or why it was refused. */
export async function generate(
  door: Transport,
  key: string,
  asked: Parameters<Client<typeof InferenceService>["generate"]>[0],
): Promise<number | string> {
  const options = { headers: { authorization: `Bearer ${key}` } };
  let tokens = 0;
  try {
    const request = { model: "tollgate-sim/plain", ...asked };
    for await (const { events } of createClient(InferenceService, door).generate(request, options)) {
      for (const { event } of events) {
        if (event.case === "finished") {
          tokens = Number(event.value.usage?.outputTokens ?? 0n);
        }
      }
    }
  } catch (error) {
    return String(Reason[readDetail(error)?.reason ?? 0]);
  }
  return tokens;
}
