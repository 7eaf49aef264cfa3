/** Numbers by architecture, from the Linux headers; undefined where a call does not exist. */
type Numbers = readonly [x64: number | undefined, arm64: number | undefined];

/** Calls that fail with ENOSYS, as on an older kernel: programs fall back to calls that can be filtered. */
export const ABSENT_CALLS = {
  clone3: [435, 435],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  memfd_secret: [447, 447],
  quotactl_fd: [443, 443],
  // Its mode is in memory, which a filter cannot read.
  openat2: [437, 437],
} as const satisfies Record<string, Numbers>;

/**
 * Calls for memory that belongs to no process: absent where only the memory of processes is counted. Programs have
 * alternatives.
 */
export const HIDDEN_MEMORY_CALLS = {
  memfd_create: [319, 279],
  shmget: [29, 194],
} as const satisfies Record<string, Numbers>;

/**
 * Calls that are always denied: no tool needs them, and each can lead out of the sandbox or affect the whole machine.
 */
export const DENIED_CALLS = {
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  unshare: [272, 97],
  setns: [308, 268],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  process_madvise: [440, 440],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  create_module: [174, undefined],
  get_kernel_syms: [177, undefined],
  query_module: [178, undefined],
  open_by_handle_at: [304, 265],
  name_to_handle_at: [303, 264],
  fanotify_init: [300, 262],
  fanotify_mark: [301, 263],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  modify_ldt: [154, undefined],
  acct: [163, 89],
  quotactl: [179, 60],
  nfsservctl: [180, 42],
  lookup_dcookie: [212, 18],
  syslog: [103, 116],
  vhangup: [153, 58],
  uselib: [134, undefined],
  ustat: [136, undefined],
  sysfs: [139, undefined],
  _sysctl: [156, undefined],
  move_pages: [279, 239],
  migrate_pages: [256, 238],
} as const satisfies Record<string, Numbers>;

/** Calls that are filtered by their arguments. */
export const FILTERED_CALLS = {
  clone: [56, 220],
  fork: [57, undefined],
  vfork: [58, undefined],
  ioctl: [16, 29],
  socket: [41, 198],
  socketpair: [53, 199],
  personality: [135, 92],
  mknod: [133, undefined],
  mknodat: [259, 33],
  open: [2, undefined],
  openat: [257, 56],
  creat: [85, undefined],
  chmod: [90, undefined],
  fchmod: [91, 52],
  fchmodat: [268, 53],
} as const satisfies Record<string, Numbers>;

/** First call newer than this table: `fchmodat2` (452), `setxattrat` (463) and all later ones are absent. */
export const FIRST_UNKNOWN_CALL = 451;
