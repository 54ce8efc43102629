import type { Settings } from "../simulation/simulate.ts";

/** Small worlds of several kinds, so that many are lived in little time, each with what some mutations need to show. */
export const worldKinds = {
  troubled: {
    requests: 300,
    trafficMs: 15,
    faultsMs: 150,
    only: ["lying engine", "one lost reply", "lost replies", "suspend", "kill in the middle", "look-ups pile up"],
  },
  plain: { requests: 150, trafficMs: 20, faultsMs: 500 },
  night: { requests: 300, trafficMs: 100, faultsMs: 500, isNight: true },
  busy: { requests: 600, trafficMs: 5, faultsMs: 300 },
  sqlite: { requests: 200, trafficMs: 20, faultsMs: 500, isSqlite: true },
  /** Cores that sleep, are cut off, and find a database that went back. */
  apart: {
    requests: 400,
    trafficMs: 15,
    faultsMs: 400,
    only: ["suspend", "cut off", "server away", "look-ups pile up", "failover", "late calls", "lost calls"],
  },
  /** Cores sleep while copies of their disks run elsewhere, and come back. */
  twins: { requests: 400, trafficMs: 15, faultsMs: 300, only: ["suspend", "twin"] },
  /** Second processes start on cores' disks. */
  seconds: { requests: 300, trafficMs: 15, faultsMs: 300, only: ["second process", "kill"] },
  /** Copies of cores' disks run elsewhere at once. */
  copies: { requests: 300, trafficMs: 5, faultsMs: 100, only: ["twin"] },
  /** Standbys become the primary that lack the rows of cores which have just begun. */
  rows: { requests: 150, trafficMs: 20, faultsMs: 500, only: ["failover", "journal gone", "kill"] },
  /** Standbys that lack the last moments become the primary. */
  past: { requests: 300, trafficMs: 15, faultsMs: 1500, only: ["failover", "lost replies"] },
  /** A day leaves the books while its core dies, sleeps or finds a database that went back, and its file is harmed. */
  leaving: {
    requests: 300,
    trafficMs: 500, // so that faults strike until after the minute in which the day is summed up and leaves
    faultsMs: 1000,
    isNight: true,
    only: ["trouble while a day leaves", "archive harmed"],
  },
  /** Disks that lose, lie and are full, and processes that die on them. */
  disks: {
    requests: 400,
    trafficMs: 10,
    faultsMs: 300,
    only: ["kill", "kill in the middle", "power cut", "disk full", "disk fails to sync", "rotten journal", "twin"],
  },
  /** The power of cores fails that have their own database, so that their journals alone keep what they acknowledged. */
  power: { requests: 400, trafficMs: 10, faultsMs: 200, isSqlite: true, only: ["power cut"] },
  /** Disks are full for a while, and processes die on them, beside databases of their own. */
  full: { requests: 400, trafficMs: 10, faultsMs: 200, isSqlite: true, only: ["disk full", "kill in the middle"] },
  /** Charges are told to a receiver, and thresholds are announced. */
  news: { requests: 250, trafficMs: 20, faultsMs: 500, isNight: false, hasNews: true },
  /** The same for accounts that have credit lines. */
  newsOfTerms: { requests: 250, trafficMs: 20, faultsMs: 2000, isNight: false, hasNews: true, hasTerms: true },
  /** Engines count more than they may, beside many requests. */
  liars: { requests: 400, trafficMs: 5, faultsMs: 300, only: ["lying engine"] },
  /** Cores start while the server's clock is wrong. */
  clocks: {
    requests: 250,
    trafficMs: 20,
    faultsMs: 1500,
    only: ["server's clock", "kill"],
    isNight: false,
    hasNews: true,
  },
  sqliteNews: { requests: 250, trafficMs: 20, faultsMs: 500, isNight: false, hasNews: true, isSqlite: true },
  /** Accounts have prices of their own and credit lines, also over a midnight. */
  terms: {
    requests: 250,
    trafficMs: 20,
    faultsMs: 2000,
    isNight: false,
    hasNews: false,
    hasTerms: true,
    hasKeys: false,
  },
  termsNight: { requests: 250, trafficMs: 150, faultsMs: 2000, isNight: true, hasTerms: true },
  /** Keys are rotated and revoked, and accounts are frozen, beside requests that come for long enough. */
  keys: {
    requests: 400,
    trafficMs: 60,
    faultsMs: 4000,
    isNight: false,
    hasNews: false,
    hasTerms: false,
    hasKeys: true,
  },
  /** Requests say who uses the service, also over a midnight and on SQLite. */
  labels: {
    requests: 300,
    trafficMs: 15,
    faultsMs: 500,
    isNight: false,
    hasNews: false,
    hasTerms: false,
    hasLabels: true,
  },
  labelsNight: { requests: 300, trafficMs: 100, faultsMs: 1000, isNight: true, hasLabels: true },
  sqliteLabels: { requests: 200, trafficMs: 20, faultsMs: 500, isSqlite: true, hasLabels: true },
  /** Movements of money are sent again, and by wrong names. */
  retries: {
    requests: 200,
    trafficMs: 20,
    faultsMs: 1500,
    isNight: false,
    hasNews: false,
    hasTerms: false,
    hasKeys: false,
    hasRetries: true,
  },
  sqliteRetries: { requests: 200, trafficMs: 20, faultsMs: 1500, isSqlite: true, hasRetries: true },
  /** Price lists come beside databases that go back to the past, and cores start anew. */
  prices: {
    requests: 300,
    trafficMs: 20,
    faultsMs: 1500,
    only: ["failover", "old backup", "many price lists", "other prices configured", "kill"],
  },
  /** So many requests that keys meet their limits a minute. */
  crowded: { requests: 4000, trafficMs: 1, faultsMs: 2000, only: ["lying engine"] },
  payments: { isPayments: true },
} as const satisfies Readonly<Record<string, Settings>>;

export type WorldKind = keyof typeof worldKinds;

/** The kinds that are lived where a mutation names none. */
export const usualKinds: readonly WorldKind[] = ["troubled", "plain", "night", "busy", "sqlite"];
