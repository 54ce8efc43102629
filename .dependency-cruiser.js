import { fileURLToPath } from "node:url";
import { findHomeless, toWalls } from "./scripts/lint/floors.ts";

/**
 * Who may import whom. `src` and `facades` meet only in the contract (`gen`) and share neutral ground (`lib`); the rooms of `src`
 * lie on floors and import downward; only composition roots see everything.
 */
const homeless = findHomeless(fileURLToPath(new URL("./", import.meta.url)));
if (homeless.length > 0) {
  throw new Error(`no floor for ${homeless.join(", ")}: every room of src has one in scripts/lint/floors.ts`);
}

export default {
  forbidden: [
    ...toWalls(),
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    { name: "gen-stands-alone", severity: "error", from: { path: "^gen/" }, to: { path: "^(lib|src|facades|test)/" } },
    {
      name: "lib-stands-alone",
      severity: "error",
      from: { path: "^lib/" },
      to: { path: "^(src|facades|simulator|test)/" },
    },
    {
      name: "simulator-stands-alone",
      comment: "It ships, but it is no part of the core.",
      severity: "error",
      from: { path: "^simulator/" },
      to: { path: "^(src|facades|test)/" },
    },
    {
      name: "only-roots-start-the-simulator",
      severity: "error",
      from: { path: "^(src|facades)/", pathNot: "^src/(compose|cli)/" },
      to: { path: "^simulator/" },
    },
    {
      name: "src-knows-no-facade",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(main\\.ts|compose/|cli/)" },
      to: { path: "^facades/" },
    },
    { name: "facades-know-no-core", severity: "error", from: { path: "^facades/" }, to: { path: "^src/" } },
    {
      name: "console-knows-the-contract-alone",
      comment:
        "It runs in browsers; money, per cents, months, limits and names are written, prices explained and errors read, as everywhere else.",
      severity: "error",
      from: { path: "^console/" },
      to: {
        path: "^(lib|src|facades|test|scripts|client)/",
        pathNot:
          "^lib/(?:money/(?:money|basis-points|comfortable|month-statement)|rpc/call-headers|errors/(?:detail|reason-texts)|limits/(?:budget-period|key-limits)|text/isolate)\\.ts$",
      },
    },
    {
      name: "nobody-knows-the-console",
      severity: "error",
      from: { path: "^(lib|src|facades|simulator)/" },
      to: { path: "^console/" },
    },
    {
      name: "pages-are-apart",
      comment: "What two pages need is a part, a format or a call.",
      severity: "error",
      from: { path: "^console/pages/([^/]+/[^/]+)/" },
      to: { path: "^console/pages/", pathNot: "^console/pages/$1/" },
    },
    {
      name: "surfaces-are-apart",
      comment: "Every folder of facades/ but the shared ones is a surface.",
      severity: "error",
      from: { path: "^facades/(?!(?:http|codegen)/)([^/]+)/" },
      to: { path: "^facades/", pathNot: "^facades/(?:http|$1)/" },
    },
    {
      name: "http-knows-no-surface",
      severity: "error",
      from: { path: "^facades/http/" },
      to: { path: "^facades/", pathNot: "^facades/http/" },
    },
    {
      name: "values-instead-of-config",
      comment: "Carriers and helpers are given values; the roots read them out of the configuration.",
      severity: "error",
      from: { path: "^src/(wire|telemetry|delivery)/" },
      to: { path: "^src/config/" },
    },
    {
      name: "codegen-stands-alone",
      severity: "error",
      from: { path: "^facades/codegen/" },
      to: { path: "^(facades/(?!codegen/)|src|gen)" },
    },
    {
      name: "services-meet-at-interfaces",
      severity: "error",
      from: { path: "^src/services/([^/]+)/" },
      to: { path: "^src/services/", pathNot: ["^src/services/(?:$1|limits)/"] },
    },
    {
      name: "orm-only-in-the-core",
      severity: "error",
      from: { path: "^(facades|simulator|lib)/" },
      to: { path: "node_modules/@mikro-orm" },
    },
  ],
  options: {
    parser: "swc",
    doNotFollow: { path: "node_modules" },

    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default", "types"] },
  },
};
