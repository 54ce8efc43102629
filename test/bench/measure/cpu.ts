import { readdirSync, readFileSync } from "node:fs";

/** What processes have used so far. */
export interface Usage {
  /** CPU time since their start, user and system, in microseconds. */
  readonly cpu: number;
  /** Resident memory now, in bytes. */
  readonly resident: number;
}

/** Kernel clock ticks a second; Linux fixes what it shows to user space at 100. */
const ticksPerSecond = 100;
/** How often a tree is read whose processes end while it is read. */
const tries = 20;

/**
 * One line of /proc/PID/stat: the parent, and user plus system time in microseconds, its own and that of the children that
 * have ended. See proc_pid_stat(5).
 */
export function parseStat(line: string): { parent: number; cpu: number; ended: number } {
  // The second field is the command in parentheses and may itself hold spaces and parentheses.
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  const time = (first: number) => ((Number(fields[first]) + Number(fields[first + 1])) * 1e6) / ticksPerSecond;
  return { parent: Number(fields[1]), cpu: time(11), ended: time(13) };
}

/** The first number of a schedstat file: time on a CPU in nanoseconds; here in microseconds. */
export function parseSchedstat(line: string): number {
  return Number(line.slice(0, line.indexOf(" "))) / 1000;
}

/** CPU time that all processes of the machine have used, from /proc/stat, in microseconds. */
export function parseMachine(stat: string): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = stat
    .slice(0, stat.indexOf("\n"))
    .split(/ +/)
    .slice(1)
    .map(Number);
  return ((user + nice + system + irq + softirq + steal) * 1e6) / ticksPerSecond;
}

/** Resident memory in bytes, from /proc/PID/status. */
export function parseResident(status: string): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
}

/** Every process below the roots, the roots included, given who is whose parent. */
export function descendants(parents: ReadonlyMap<number, number>, roots: readonly number[]): number[] {
  const found = new Set(roots);
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const [pid, parent] of parents) {
      if (found.has(parent)) {
        found.add(pid);
      }
    }
  }
  return [...found];
}

/** What process trees have used so far, from /proc. A process that has ended counts in its parent, which waited for it. */
export function usage(roots: readonly number[], proc: Proc = kernel): Usage {
  if (process.platform !== "linux") {
    throw new Error("the benchmark reads CPU time from /proc, which only Linux has; run it on Linux or in a container");
  }
  for (let attempt = 1; ; attempt++) {
    const pids = descendants(parents(proc), roots);
    let cpu = 0;
    let resident = 0;
    for (const pid of pids) {
      cpu += cpuOf(pid, proc);
      resident += parseResident(proc.read(`/proc/${pid}/status`));
    }
    // One that ended meanwhile is in neither its own time nor its parent's, or in both.
    if (attempt === tries || pids.every((pid) => proc.read(`/proc/${pid}/stat`) !== "")) {
      return { cpu, resident };
    }
  }
}

/** CPU time that the whole machine has used so far, in microseconds. */
export function machineUsage(): number {
  return parseMachine(kernel.read("/proc/stat"));
}

/**
 * The scheduler's counters have nanoseconds, but only of threads that run; the process's own count, in ticks of 10 ms, has
 * those that have ended too. Neither says too much, so the larger one is nearer.
 */
function cpuOf(pid: number, { list, read }: Proc): number {
  const threads = list(`/proc/${pid}/task`).map((thread) => read(`/proc/${pid}/task/${thread}/schedstat`));
  const counted = threads.filter((line) => line !== "").reduce((sum, line) => sum + parseSchedstat(line), 0);
  const stat = read(`/proc/${pid}/stat`);
  const { cpu, ended } = stat === "" ? { cpu: 0, ended: 0 } : parseStat(stat);
  return Math.max(counted, cpu) + ended;
}

function parents({ list, read }: Proc): Map<number, number> {
  const found = new Map<number, number>();
  for (const name of list("/proc")) {
    const stat = /^\d+$/.test(name) ? read(`/proc/${name}/stat`) : "";
    if (stat !== "") {
      found.set(Number(name), parseStat(stat).parent);
    }
  }
  return found;
}

/** The kernel's files about processes. Empty when the process or thread has ended meanwhile. */
interface Proc {
  read(path: string): string;
  list(path: string): string[];
}

const kernel: Proc = {
  read(path) {
    try {
      return readFileSync(path, "latin1");
    } catch {
      return "";
    }
  },
  list(path) {
    try {
      return readdirSync(path);
    } catch {
      return [];
    }
  },
};
