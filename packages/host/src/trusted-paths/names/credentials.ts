import type { ProtectedGroup } from "./protected-entry.ts";

export const CREDENTIALS: ProtectedGroup = {
  title: "Credentials",
  entries: [
    {
      reader: "applications",
      why: "read credentials and variables; `.env.example` and the like stay writable",
      source: "https://github.com/motdotla/dotenv",
      paths: [
        ".env",
        ".env.local",
        ".env.*.local",
        ".env.dev",
        ".env.development",
        ".env.prod",
        ".env.production",
        ".env.stage",
        ".env.staging",
        ".env.preview",
        ".env.test",
        ".env.qa",
        ".env.uat",
        ".env.ci",
        ".env.keys",
        ".env.vault",
      ],
    },
    {
      reader: "curl, git and others",
      why: "read passwords",
      source: "https://curl.se/docs/manpage.html",
      paths: [".netrc", "_netrc", ".git-credentials"],
    },
    {
      reader: "package registries",
      why: "read tokens",
      source: "https://packaging.python.org/en/latest/specifications/pypirc/",
      paths: [".pypirc", ".gem/credentials", ".m2/settings.xml"],
    },
    {
      reader: "OpenSSH and GnuPG",
      why: "read keys, and commands that their configuration names",
      source: "https://man.openbsd.org/ssh_config",
      paths: [".ssh", ".gnupg"],
    },
    {
      reader: "cloud command lines",
      why: "read keys, and commands that their configuration names",
      source: "https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html",
      paths: [".aws", ".azure", ".config/gcloud", ".config/gh", ".boto", ".s3cfg", ".databrickscfg", ".vault-token"],
    },
    {
      reader: "Kubernetes and Docker",
      why: "read keys, and programs that their configuration names",
      source: "https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/",
      paths: [".kube", ".docker/config.json"],
    },
    {
      reader: "Terraform",
      why: "reads tokens and helper programs",
      source: "https://developer.hashicorp.com/terraform/cli/config/config-file",
      paths: [".terraformrc", ".terraform.d"],
    },
    {
      reader: "database clients",
      why: "read passwords",
      source: "https://www.postgresql.org/docs/current/libpq-pgpass.html",
      paths: [".pgpass", ".my.cnf"],
    },
  ],
};
