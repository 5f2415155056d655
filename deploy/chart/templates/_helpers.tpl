{{/* The name of all objects: that of the release, with the chart's name unless it is part of it. */}}
{{- define "rouse.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "rouse.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "rouse.labels" -}}
{{ include "rouse.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "rouse.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* The file rouse.yaml. */}}
{{- define "rouse.settings" -}}
{{- $settings := deepCopy .Values.settings }}
{{- range $name, $value := dig "kafka" "properties" dict $settings }}
{{- if regexMatch "(password|secret|\\.pem)$" $name }}
{{- fail (printf "settings.kafka.properties: %s is secret: put it into the key kafka.properties of the Secret kafka.secretName" $name) }}
{{- end }}
{{- end }}
{{- $servers := required "kafka.bootstrapServers: name brokers, host:port,host:port" .Values.kafka.bootstrapServers }}
{{- $_ := set $settings "kafka" (merge (dict "bootstrapServers" $servers) (get $settings "kafka" | default dict)) }}
{{- if .Values.policy }}{{ $_ := set $settings "policy" "/etc/rouse/settings/policy.yaml" }}{{ end }}
{{- toYaml $settings }}
{{- end }}

{{/* The security of a pod: no root, no token of the cluster's API, nothing to write to but its volume. */}}
{{- define "rouse.podSecurity" -}}
serviceAccountName: {{ include "rouse.name" . }}
automountServiceAccountToken: false
# Without this, a Service called rouse would set variables such as ROUSE_PORT, and Rouse refuses variables that it does not know.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  # The files of Rouse stay readable for its own user alone.
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "rouse.containerSecurity" -}}
image: {{ include "rouse.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{- define "rouse.mounts" -}}
- { name: settings, mountPath: /etc/rouse/settings, readOnly: true }
{{- if .Values.kafka.secretName }}
- { name: kafka, mountPath: /etc/rouse/kafka, readOnly: true }
{{- end }}
{{- end }}

{{- define "rouse.volumes" -}}
- name: settings
  configMap: { name: {{ include "rouse.name" . }} }
{{- if .Values.kafka.secretName }}
- name: kafka
  secret: { secretName: {{ .Values.kafka.secretName }}, defaultMode: 0440 }
{{- end }}
{{- end }}

{{/* The variable that names the file with secrets. */}}
{{- define "rouse.secrets" -}}
{{- if .Values.kafka.secretName }}
- { name: ROUSE_KAFKA_PROPERTIES_FILE, value: /etc/rouse/kafka/kafka.properties }
{{- end }}
{{- end }}

{{/* The container of a role: a dict of `root`, `role`, `name`, `image`, `http` (the name and number of the port of metrics and
     probes), `listen` (the same of the role's own port, if it has one), `resources`, `env`, `kafka` (the name of the volume with the
     secret of Kafka, or ""), and `mounts`, a dict of folders by the names of volumes; those of secrets begin with /etc. */}}
{{- define "rouse.container" -}}
- name: {{ .name }}
  {{- include "rouse.containerSecurity" .image | nindent 2 }}
  args: [run, --config, /etc/rouse/settings/rouse.yaml]
  env:
    - { name: ROUSE_ROLES, value: {{ .role }} }
    {{- if eq .name "rouse" }}
    - name: ROUSE_INSTANCE
      valueFrom: { fieldRef: { fieldPath: metadata.name } }
    {{- else }}
    - name: POD_NAME
      valueFrom: { fieldRef: { fieldPath: metadata.name } }
    # Two processes of an installation never share a name.
    - { name: ROUSE_INSTANCE, value: $(POD_NAME)-{{ .name }} }
    {{- end }}
    - { name: ROUSE_HTTP_LISTEN, value: "0.0.0.0:{{ .http.port }}" }
    {{- if .kafka }}
    - { name: ROUSE_KAFKA_PROPERTIES_FILE, value: /etc/rouse/kafka/kafka.properties }
    {{- end }}
    {{- range $name, $value := .env }}
    - { name: {{ $name }}, value: {{ $value | quote }} }
    {{- end }}
  ports:
    - { name: {{ .http.name }}, containerPort: {{ .http.port }} }
    {{- with .listen }}
    - { name: {{ .name }}, containerPort: {{ .port }} }
    {{- end }}
  startupProbe:
    httpGet: { path: /startupz, port: {{ .http.name }} }
    periodSeconds: 5
    timeoutSeconds: 5
    failureThreshold: {{ mul .root.Values.startMinutesMax 12 }}
  readinessProbe:
    httpGet: { path: /readyz, port: {{ .http.name }} }
    periodSeconds: 5
    timeoutSeconds: 5
  livenessProbe:
    httpGet: { path: /livez, port: {{ .http.name }} }
    periodSeconds: 10
    timeoutSeconds: 5
    failureThreshold: 3
  resources:
    {{- toYaml .resources | nindent 4 }}
  volumeMounts:
    - { name: settings, mountPath: /etc/rouse/settings, readOnly: true }
    {{- with .kafka }}
    - { name: {{ . }}, mountPath: /etc/rouse/kafka, readOnly: true }
    {{- end }}
    {{- range $name, $folder := .mounts }}
    - { name: {{ $name }}, mountPath: {{ $folder }}{{ if hasPrefix "/etc/" $folder }}, readOnly: true{{ end }} }
    {{- end }}
{{- end }}

{{/* The template of the pods of a role: a dict of `root`, `role`, `values` (those of the role), `env`, `volume` (the name of the
     volume of the role, or ""), and `console`, whether the pod also has the console's container. The values of the gateway also have
     `keysSecret`, `tlsSecret`, `port` and `devicesViewSize`. */}}
{{- define "rouse.pod" -}}
{{- $values := .root.Values }}
{{- /* The role's own tag, else that of all roles. */}}
{{- $image := merge (deepCopy (.values.image | default dict)) $values.image }}
{{- $own := dict "Chart" .root.Chart "Release" .root.Release "Values" (dict "image" $image) }}
metadata:
  labels:
    {{- include "rouse.labels" $own | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
  annotations:
    checksum/settings: {{ include "rouse.settings" .root | sha256sum }}
    {{- with .values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- include "rouse.podSecurity" .root | nindent 2 }}
  # Planners commit, then write their snapshots, within 60 s.
  terminationGracePeriodSeconds: 75
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "rouse.selector" .root | nindent 10 }}
          app.kubernetes.io/component: {{ .role }}
  {{- with .values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  containers:
    {{- $container := dict "root" .root "role" .role "name" "rouse" "image" $own "env" .env "resources" .values.resources }}
    {{- $_ := set $container "http" (dict "name" "http" "port" $values.http.port) }}
    {{- $_ := set $container "kafka" (ternary "kafka" "" (not (empty $values.kafka.secretName))) }}
    {{- with .values.port }}{{ $_ := set $container "listen" (dict "name" "gateway" "port" .) }}{{ end }}
    {{- $mounts := dict }}
    {{- if .values.keysSecret }}{{ $_ := set $mounts "keys" "/etc/rouse/gateway" }}{{ end }}
    {{- if .values.tlsSecret }}{{ $_ := set $mounts "tls" "/etc/rouse/tls" }}{{ end }}
    {{- if .volume }}{{ $_ := set $mounts .volume "/var/lib/rouse" }}{{ end }}
    {{- if eq .role "gateway" }}{{ include "rouse.oidc" (dict "root" .root "env" .env "mounts" $mounts) }}{{ end }}
    {{- $_ := set $container "mounts" $mounts }}
    {{- include "rouse.container" $container | nindent 4 }}
    {{- if .console }}
    {{- include "rouse.console" (dict "root" .root "image" $own "volume" .volume) | nindent 4 }}
    {{- end }}
  volumes:
    {{- include "rouse.volumes" .root | nindent 4 }}
    {{- with .values.keysSecret }}
    - name: keys
      secret: { secretName: {{ . }}, defaultMode: 0440 }
    {{- end }}
    {{- with .values.tlsSecret }}
    - name: tls
      secret: { secretName: {{ . }}, defaultMode: 0440 }
    {{- end }}
    {{- with .values.devicesViewSize }}
    # A copy of a topic: a new pod fills it again.
    - name: view
      emptyDir: { sizeLimit: {{ . }} }
    {{- end }}
    {{- if or .console (eq .role "gateway") }}
    {{- include "rouse.oidcVolumes" .root | nindent 4 }}
    {{- end }}
    {{- if .console }}
    {{- with $values.console.keysSecret }}
    - name: console-keys
      secret: { secretName: {{ . }}, defaultMode: 0440 }
    {{- end }}
    {{- with $values.console.tlsSecret }}
    - name: console-tls
      secret: { secretName: {{ . }}, defaultMode: 0440 }
    {{- end }}
    {{- with $values.console.kafkaSecretName }}
    - name: console-kafka
      secret: { secretName: {{ . }}, defaultMode: 0440 }
    {{- end }}
    {{- end }}
{{- end }}

{{/* Adds the variables that name the files of a certificate to `env`: a dict of `env` and `role`, in capitals. It renders to nothing. */}}
{{- define "rouse.tls" -}}
{{- $_ := set .env (printf "ROUSE_%s_TLS_CERTIFICATE_FILE" .role) "/etc/rouse/tls/tls.crt" }}
{{- $_ := set .env (printf "ROUSE_%s_TLS_KEY_FILE" .role) "/etc/rouse/tls/tls.key" }}
{{- end }}

{{/* Adds the variables of the tokens to `env`, and the folders of the files to `mounts`: a dict of `root`, `env` and `mounts`. It renders to
     nothing, unless the values contradict one another. */}}
{{- define "rouse.oidc" -}}
{{- with .root.Values.oidc }}
{{- if .issuer }}
{{- $_ := required "oidc.audience: name what the issuer writes into the claim aud for Rouse, so that tokens for others are refused" .audience }}
{{- if ne 1 (list .keysUrl .keysSecret .keysConfigMap | compact | len) }}
{{- fail "oidc: name one of keysUrl (the issuer's jwks_uri), keysSecret and keysConfigMap" }}
{{- end }}
{{- if and .grantsSecret .grantsConfigMap }}{{ fail "oidc: name grantsSecret or grantsConfigMap, not both" }}{{ end }}
{{- $_ := set $.env "ROUSE_OIDC_ISSUER" .issuer }}
{{- $_ := set $.env "ROUSE_OIDC_AUDIENCE" .audience }}
{{- with .keysUrl }}{{ $_ := set $.env "ROUSE_OIDC_KEYS_URL" . }}{{ end }}
{{- if or .keysSecret .keysConfigMap }}
{{- $_ := set $.env "ROUSE_OIDC_KEYS_FILE" "/etc/rouse/oidc-keys/jwks.json" }}
{{- $_ := set $.mounts "oidc-keys" "/etc/rouse/oidc-keys" }}
{{- end }}
{{- if or .grantsSecret .grantsConfigMap }}
{{- $_ := set $.env "ROUSE_OIDC_GRANTS_FILE" "/etc/rouse/oidc-grants/grants.json" }}
{{- $_ := set $.mounts "oidc-grants" "/etc/rouse/oidc-grants" }}
{{- end }}
{{- with .rolesClaim }}{{ $_ := set $.env "ROUSE_OIDC_ROLES_CLAIM" . }}{{ end }}
{{- $_ := set $.env "ROUSE_OIDC_CLOCK_SKEW_SECONDS" .clockSkewSeconds }}
{{- else if or .audience .keysUrl .keysSecret .keysConfigMap .grantsSecret .grantsConfigMap }}
{{- fail "oidc.issuer: name the issuer of the tokens, too" }}
{{- end }}
{{- end }}
{{- end }}

{{/* The volumes of the issuer's keys and of the grants, for pods with a container that takes tokens. */}}
{{- define "rouse.oidcVolumes" -}}
{{- with .Values.oidc }}
{{- if .issuer }}
{{- range $name := list "keys" "grants" }}
{{- $secret := get $.Values.oidc (printf "%sSecret" $name) }}
{{- $map := get $.Values.oidc (printf "%sConfigMap" $name) }}
{{- if $secret }}
- name: oidc-{{ $name }}
  secret: { secretName: {{ $secret }}, defaultMode: 0440 }
{{- else if $map }}
- name: oidc-{{ $name }}
  configMap: { name: {{ $map }} }
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The container of the console: a dict of `root`, `image`, and `volume`, the name of the volume with the audit store. */}}
{{- define "rouse.console" -}}
{{- $values := .root.Values }}
{{- $kafka := ternary "kafka" "" (not (empty $values.kafka.secretName)) }}
{{- if $values.console.kafkaSecretName }}{{ $kafka = "console-kafka" }}{{ end }}
{{- $env := dict "ROUSE_CONSOLE_LISTEN" (printf "0.0.0.0:%d" (int $values.console.port)) }}
{{- $_ := set $env "ROUSE_AUDIT_STORE" "/var/lib/rouse/audit.sqlite" }}
{{- if $values.console.devicesView }}{{ $_ := set $env "ROUSE_CONSOLE_DEVICES_VIEW" "/var/lib/rouse/devices.sqlite" }}{{ end }}
{{- /* The headless Service has the addresses of the pods of all roles. Other addresses can be set in its place. */}}
{{- if not (dig "console" "processes" "" $values.settings) }}
{{- $_ := set $env "ROUSE_CONSOLE_PROCESSES" (printf "%s:%d" (include "rouse.name" .root) (int $values.http.port)) }}
{{- end }}
{{- $container := dict "root" .root "role" "console" "name" "console" "image" .image "env" $env "kafka" $kafka }}
{{- $_ := set $container "resources" $values.console.resources }}
{{- $_ := set $container "http" (dict "name" "console-http" "port" $values.console.metricsPort) }}
{{- $_ := set $container "listen" (dict "name" "console" "port" $values.console.port) }}
{{- $mounts := dict .volume "/var/lib/rouse" }}
{{- if $values.console.keysSecret }}
{{- $_ := set $env "ROUSE_CONSOLE_KEYS" "/etc/rouse/console/keys.json" }}
{{- $_ := set $mounts "console-keys" "/etc/rouse/console" }}
{{- end }}
{{- include "rouse.oidc" (dict "root" .root "env" $env "mounts" $mounts) }}
{{- if $values.console.tlsSecret }}
{{- $_ := set $mounts "console-tls" "/etc/rouse/tls" }}
{{- include "rouse.tls" (dict "env" $env "role" "CONSOLE") }}
{{- end }}
{{- $_ := set $container "mounts" $mounts }}
{{- include "rouse.container" $container }}
{{- end }}

{{/* The claim of a role's volume: a dict of `name` and `storage`. */}}
{{- define "rouse.claim" -}}
- metadata:
    name: {{ .name }}
  spec:
    accessModes: [ReadWriteOnce]
    {{- with .storage.className }}
    storageClassName: {{ . }}
    {{- end }}
    resources: { requests: { storage: {{ .storage.size }} } }
{{- end }}
