import type { SandboxProfile } from "@narthex/kernel";
import { createSeccompFilter, type SandboxArchitecture } from "../sandbox/seccomp/seccomp-filter.ts";
import { GATE_PORT, GATE_SOCKET } from "./network-plan.ts";

const PERL = "/usr/bin/perl";
/** System call numbers of `seccomp` and `prctl`. */
const CALLS: Readonly<Record<SandboxArchitecture, readonly [number, number]>> = { x64: [317, 157], arm64: [277, 167] };

/**
 * Wraps a command with a forwarder to the gate: a second process that accepts connections on the sandbox's loopback and
 * forwards them to the gate's socket.
 *
 * SECURITY: only the forwarder may open unix sockets. A workspace may contain sockets of programs outside, and a mount
 * does not prevent connecting to them; so the command itself runs under a second filter that forbids them. The
 * forwarder is not dumpable: the command cannot write into its memory and have it open sockets. It listens before the
 * command starts, so that no connection comes too early, and ends with the sandbox.
 */
export function withGateForwarder(
  command: readonly string[],
  architecture: SandboxArchitecture,
  { mayFork }: Pick<SandboxProfile, "mayFork">,
): string[] {
  const filter = createSeccompFilter({
    architecture,
    socketFamilies: ["inet", "inet6"],
    mayFork,
    countsAllMemory: true,
  });
  const settings = [GATE_PORT, GATE_SOCKET, ...CALLS[architecture], filter.toString("hex")].map(String);
  return [PERL, "-e", FORWARDER, "--", ...settings, ...command];
}

/** Perl is part of every Debian and starts in a few milliseconds; another Node takes forty. */
const FORWARDER = String.raw`
use strict; use Socket; use Fcntl;
my ($port, $gate, $seccomp, $prctl, $filter) = splice @ARGV, 0, 5;
syscall($prctl, 4, 0, 0, 0, 0) == 0 or die "gate: $!";
my $door;
socket($door, PF_INET, SOCK_STREAM, 0) or die "gate: $!";
bind($door, pack_sockaddr_in($port, INADDR_LOOPBACK)) and listen($door, 128) or die "gate: $!";
my $pid = fork; die "gate: $!" unless defined $pid;
if ($pid) {
  close $door;
  $filter = pack "H*", $filter;
  my $program = pack "S x![P] P", length($filter) / 8, $filter;
  syscall($seccomp, 1, 0, $program) == 0 or die "gate: the filter was refused: $!";
  exec { $ARGV[0] } @ARGV or do { print STDERR "$ARGV[0]: $!
"; exit 127 };
}
open STDIN, "<", "/dev/null"; open STDOUT, ">", "/dev/null"; open STDERR, ">", "/dev/null";
$SIG{PIPE} = "IGNORE";
sub easy { fcntl($_[0], F_SETFL, fcntl($_[0], F_GETFL, 0) | O_NONBLOCK) }
my (%peer, %held, %file, %over);
sub drop { for my $fd (@_) { next unless $file{$fd}; close $file{$fd}; delete $_->{$fd} for \%peer, \%held, \%file, \%over } }
while (1) {
  my ($read, $write) = ("", "");
  vec($read, fileno $door, 1) = 1 if keys(%file) < 400;
  for my $fd (keys %file) {
    length $held{$fd} ? (vec($write, $fd, 1) = 1) : $over{$peer{$fd}} ? 0 : (vec($read, $peer{$fd}, 1) = 1);
  }
  next if select($read, $write, undef, undef) < 0;
  my ($client, $to);
  if (vec($read, fileno $door, 1) and accept($client, $door)) {
    if (socket($to, PF_UNIX, SOCK_STREAM, 0) and connect($to, pack_sockaddr_un($gate))) {
      easy($_) for $client, $to;
      my ($a, $b) = (fileno $client, fileno $to);
      @file{$a, $b} = ($client, $to); @peer{$a, $b} = ($b, $a); @held{$a, $b} = ("", "");
    }
  }
  for my $fd (keys %file) {
    my $to = $peer{$fd}; next unless $file{$fd} and $file{$to};
    if (vec($read, $fd, 1)) {
      my $got = sysread $file{$fd}, $held{$to}, 262144;
      if (!defined $got) { drop($fd, $to) unless $!{EAGAIN} or $!{EINTR}; next }
      if (!$got) { $over{$fd} = 1; shutdown $file{$to}, 1; drop($fd, $to) if $over{$to}; next }
    }
  }
  for my $fd (keys %file) {
    next unless $file{$fd} and length $held{$fd};
    my $put = syswrite $file{$fd}, $held{$fd};
    if (!defined $put) { drop($fd, $peer{$fd}) unless $!{EAGAIN} or $!{EINTR}; next }
    substr($held{$fd}, 0, $put) = "";
  }
}
`;
