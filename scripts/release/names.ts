/** The names of a release's files. */
export const releaseNames = (version: string) => ({
  npmPackage: `tollgate-${version}.tgz`,
  billOfMaterials: `tollgate-${version}.cdx.json`,
  chart: `tollgate-chart-${version}.tgz`,
  notes: "RELEASE-NOTES.md",
  sums: "SHA256SUMS",
});

/** The name of the one binary of a system, such as linux and x64. */
export const binaryName = (version: string, platform: string, arch: string) =>
  `tollgate-${version}-${platform}-${arch}`;
