"""Renders the Helm chart with several values and checks what it makes.

  check-chart.py CHART ROUSE

CHART is the folder of the chart, ROUSE a built program, which reads the settings of each container. Needs the packages
helm-python-sdk and kubernetes-validate. Prints each problem, and exits 1 if there is one.
"""

import json
import logging
import os
import subprocess
import sys
import tempfile

import helm_python
import kubernetes_validate
import yaml

logging.disable(logging.CRITICAL)
KUBERNETES = ["1.27", "1.33", "1.37"]
BASE = {"kafka": {"bootstrapServers": "kafka-0:9093,kafka-1:9094"}}
ALL = {
    "kafka": {"bootstrapServers": "kafka:9092", "secretName": "rouse-kafka"},
    "image": {"repository": "registry.example.com/rouse", "tag": "1.2.3", "pullPolicy": "Always"},
    "imagePullSecrets": [{"name": "pull"}],
    "settings": {
        "topics": {"events": ["flights", "goals"], "partitions": 3},
        "kafka": {"properties": {"client.rack": "a"}},
        "traces": {"endpoint": "http://collector.traces:4318/v1/traces"},
        "gateway": {"topic": "goals"},
    },
    "policy": "version: 2026-11-22.1\nkinds: {}\n",
    "createTopics": True,
    "planner": {"replicas": 2, "workers": 2, "storage": {"className": "fast"}, "priorityClassName": "high"},
    "intake": {"replicas": 5, "nodeSelector": {"disk": "ssd"}, "tolerations": [{"operator": "Exists"}]},
    "gateway": {"enabled": True, "keysSecret": "rouse-keys", "replicas": 3, "port": 8081, "devicesViewSize": "4Gi", "tlsSecret": "gateway-tls"},
    "console": {"enabled": True, "keysSecret": "console-keys", "kafkaSecretName": "console-kafka", "port": 8091, "metricsPort": 9466, "tlsSecret": "console-tls", "devicesView": True},
    "networkPolicy": {
        "scrapers": [{"podSelector": {}}],
        "clients": [{"namespaceSelector": {}}],
        "consoleClients": [{"ipBlock": {"cidr": "10.0.0.0/8"}}],
        "brokerPorts": [9095],
        "extraEgress": [{"ports": [{"port": 443}]}],
    },
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "prometheusRule": {"enabled": True, "labels": {"release": "prometheus"}, "runbookPrefix": "https://git.example.com/rouse/"},
    "dashboard": {"enabled": True},
}
OIDC = {"issuer": "https://login.example.com/realms/airline", "audience": "rouse"}
# Tokens alone: the keys come from an address.
TOKENS = {
    **BASE,
    "gateway": {"enabled": True},
    "console": {"enabled": True},
    "oidc": {**OIDC, "keysUrl": "https://login.example.com:8443/certs", "rolesClaim": "realm_access.roles", "grantsConfigMap": "rouse-grants"},
}
SMALL = {**BASE, "audit": {"enabled": False}, "networkPolicy": {"enabled": False}}
REFUSED = {
    "kafka.bootstrapServers: name brokers": {},
    "sasl.password is secret": {**BASE, "settings": {"kafka": {"properties": {"sasl.password": "hunter2"}}}},
    "planner": {**BASE, "planner": {"replica": 3}},
    "settings": {**BASE, "settings": {"roles": ["planner"]}},
    "gateway.keysSecret: name a Secret": {**BASE, "gateway": {"enabled": True}},
    "console.keysSecret: name a Secret": {**BASE, "console": {"enabled": True}},
    "oidc: without grants no token may publish": {**TOKENS, "oidc": {**OIDC, "keysSecret": "k"}},
    "oidc.audience: name what": {**TOKENS, "oidc": {**TOKENS["oidc"], "audience": ""}},
    "oidc: name one of keysUrl": {**TOKENS, "oidc": {**TOKENS["oidc"], "keysConfigMap": "k"}},
    "oidc: name one of keysUrl (": {**TOKENS, "oidc": {**TOKENS["oidc"], "keysUrl": ""}},
    "oidc: name grantsSecret or": {**TOKENS, "oidc": {**TOKENS["oidc"], "grantsSecret": "k"}},
    "oidc.issuer: name the issuer": {**BASE, "gateway": {"enabled": True, "keysSecret": "k"}, "oidc": {"audience": "rouse"}},
    "oidc": {**BASE, "settings": {"oidc": OIDC}},
    "set audit.enabled, too": {**BASE, "audit": {"enabled": False}, "console": {"enabled": True, "keysSecret": "k"}},
    "two of http.port, console.port": {**BASE, "console": {"enabled": True, "keysSecret": "k", "metricsPort": 9464}},
    "prometheusRule.enabled: set serviceMonitor.enabled": {**BASE, "prometheusRule": {"enabled": True}},
    "prometheusRule": {**BASE, "prometheusRule": {"rules": []}},
    "repository": {**BASE, "planner": {"image": {"repository": "other"}}},
}

chart, rouse = sys.argv[1:]
problems = []


def expect(holds, words):
    if not holds:
        problems.append(words)


def render(values, name="blue"):
    with helm_python.Chart.load(chart) as loaded:
        loaded.validate_schema(values)
        files = loaded.render(values, name=name, namespace="prod")
    notes = next(text for path, text in files.items() if path.endswith("NOTES.txt"))
    objects = [
        document
        for path, text in sorted(files.items())
        if path.endswith(".yaml")
        for document in yaml.safe_load_all(text)
        if document
    ]
    return objects, notes


def templates(objects):
    """The templates of pods, each with the object that it belongs to."""
    return [(o, o["spec"]["template"]) for o in objects if "template" in o.get("spec", {})]


def check_objects(objects, words):
    for o in objects:
        what = f"{words}: {o['kind']} {o['metadata']['name']}"
        if o["kind"] in ("ServiceMonitor", "PrometheusRule"):
            continue
        for version in KUBERNETES:
            try:
                kubernetes_validate.validate(o, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                expect(False, f"{what} for Kubernetes {version}: {error.message}")
    names = [(o["kind"], o["metadata"]["name"]) for o in objects]
    expect(len(names) == len(set(names)), f"{words}: two objects of one name")


def check_observability(objects):
    """The rules and the dashboard are those of deploy/observability, and only there when they are asked for."""
    folder = os.path.join(chart, "..", "observability")
    rules = [o for o in objects if o["kind"] == "PrometheusRule"]
    expect(len(rules) == 1 and rules[0]["metadata"]["labels"]["release"] == "prometheus", "all: the labels of the rules")
    prefix = ALL["prometheusRule"]["runbookPrefix"]
    with open(os.path.join(folder, "alerts.yaml")) as file:
        groups = yaml.safe_load(file)["groups"]
    alerts = [rule for group in groups for rule in group["rules"] if "alert" in rule]
    for rule in alerts:
        rule["annotations"]["runbook_url"] = prefix + rule["annotations"]["runbook_url"]
    expect(len(alerts) > 20 and [rule["spec"]["groups"] for rule in rules] == [groups], "all: the rules are not those of the file")
    boards = [o for o in objects if o["metadata"]["name"].endswith("-dashboard")]
    expect(len(boards) == 1 and boards[0]["metadata"]["labels"]["grafana_dashboard"] == "1", "all: the labels of the dashboard")
    with open(os.path.join(folder, "dashboard.json")) as file:
        board = json.load(file)
    expect([json.loads(o["data"]["rouse.json"]) for o in boards] == [board], "all: the dashboard is not that of the file")


def check_pod(o, template, words):
    spec, what = template["spec"], f"{words}: {o['kind']} {o['metadata']['name']}"
    security = spec["securityContext"]
    expect(security["runAsNonRoot"] and security["runAsUser"] > 0, f"{what} may run as root")
    expect(security["seccompProfile"] == {"type": "RuntimeDefault"}, f"{what} has no seccomp profile")
    expect(spec["automountServiceAccountToken"] is False, f"{what} has a token of the API")
    expect(spec["enableServiceLinks"] is False, f"{what} gets variables of services, which Rouse refuses")
    mounted = {m["name"] for c in spec["containers"] for m in c["volumeMounts"]}
    given = {v["name"] for v in spec["volumes"]} | {c["metadata"]["name"] for c in o["spec"].get("volumeClaimTemplates", [])}
    expect(mounted == given, f"{what} mounts {mounted} of {given}")
    ports = [p[key] for c in spec["containers"] for p in c.get("ports", []) for key in ("name", "containerPort")]
    expect(len(ports) == len(set(ports)), f"{what}: a port is there twice: {ports}")
    for container in spec["containers"]:
        check_container(o, container, f"{what}, {container['name']}")
    if o["kind"] == "Job":
        return
    expect(o["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items(), f"{what} selects other pods")
    expect(spec["terminationGracePeriodSeconds"] > 60, f"{what} is killed before its planners have written snapshots")


def check_container(o, container, what):
    inner = container["securityContext"]
    expect(inner["readOnlyRootFilesystem"] and not inner["allowPrivilegeEscalation"], f"{what} can write to its root")
    expect(inner["capabilities"] == {"drop": ["ALL"]}, f"{what} has capabilities")
    expect("memory" in container["resources"]["limits"], f"{what} has no limit of memory")
    for mount in container["volumeMounts"]:
        expect(mount.get("readOnly", False) == mount["mountPath"].startswith("/etc/"), f"{what}: {mount}")
    if o["kind"] == "Job":
        return
    port = container["ports"][0]
    for probe, path in (("startupProbe", "/startupz"), ("readinessProbe", "/readyz"), ("livenessProbe", "/livez")):
        expect(container[probe]["httpGet"] == {"path": path, "port": port["name"]}, f"{what}: {probe}")


def check_settings(objects, words):
    """Lets Rouse read the settings of each container as the container would."""
    data = next(o["data"] for o in objects if o["kind"] == "ConfigMap" and "rouse.yaml" in o["data"])
    with tempfile.TemporaryDirectory() as folder:
        for name, text in data.items():
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        with open(os.path.join(folder, "kafka.properties"), "w") as file:
            file.write("security.protocol=SASL_SSL\n")
        seen = {}
        containers = [(o, c) for o, template in templates(objects) for c in template["spec"]["containers"]]
        for o, container in containers:
            variables = {v["name"]: v.get("value", "blue-planner-0") for v in container.get("env", [])}
            variables = {k: v.replace("/etc/rouse/kafka", folder) for k, v in variables.items()}
            if "ROUSE_ROLES" not in variables:
                continue
            arguments = [a.replace("/etc/rouse/settings", folder) for a in container["args"]]
            run = subprocess.run([rouse, *arguments, "--print-config"], env=variables, capture_output=True, text=True)
            if run.returncode != 0:
                sys.exit(f"{words}: {o['metadata']['name']}: {run.stderr}")
            shown = dict(line.split(None, 1) for line in run.stdout.splitlines())
            seen[variables["ROUSE_ROLES"]] = {k: v.rsplit("  (", 1)[0] for k, v in shown.items()}
        return seen


def check(words, values):
    objects, notes = render(values)
    check_objects(objects, words)
    for o, template in templates(objects):
        check_pod(o, template, words)
    settings = check_settings(objects, words)
    expect(all(s["roles"] == role for role, s in settings.items()), f"{words}: roles {settings}")
    budgets = {o["metadata"]["name"] for o in objects if o["kind"] == "PodDisruptionBudget"}
    replicated = {f"blue-rouse-{role}" for role in settings if role not in ("audit", "console")}
    expect(budgets == replicated, f"{words}: budgets {budgets} of {replicated}")
    text = yaml.safe_dump_all(objects)
    expect("kind: Secret" not in text and "hunter2" not in text, f"{words}: the chart makes secrets")
    return {(o["kind"], o["metadata"]["name"]): o for o in objects}, notes, settings


def check_base():
    objects, notes, settings = check("base", BASE)
    expect(set(settings) == {"intake", "planner", "audit"}, f"base: roles {set(settings)}")
    expect(settings["planner"]["planner.workers"] == "2", "base: planner.workers")
    expect(settings["planner"]["instance"] == "blue-planner-0", "base: a pod's name is not its instance")
    expect(settings["planner"]["membership"] == "static", "base: planners are static members")
    expect(settings["intake"]["membership"] == "dynamic", "base: the names of intake pods do not stay")
    expect(settings["audit"]["audit.store"] == "/var/lib/rouse/audit.sqlite", "base: audit.store")
    expect("console" not in str(objects.keys()), "base: a console that nobody asked for")
    expect("PrometheusRule" not in str(objects.keys()) and "dashboard" not in str(objects.keys()), "base: rules or a dashboard")
    expect(objects["StatefulSet", "blue-rouse-audit"]["spec"]["replicas"] == 1, "base: one audit")
    policy = objects["NetworkPolicy", "blue-rouse"]["spec"]
    expect(policy["ingress"] == [] and "Ingress" in policy["policyTypes"], f"base: somebody reaches the pods: {policy}")
    egress = policy["egress"]
    expect([p["port"] for rule in egress for p in rule["ports"]] == [53, 53, 9093, 9094], f"base: egress {egress}")
    expect(not [k for k in objects if "gateway" in k[1]], f"base: a gateway that nobody asked for: {list(objects)}")
    expect("4 for 12 partitions" in notes and "WARNING" not in notes, f"base: notes {notes}")
    expect("every event is NO_MATCH" in notes, f"base: notes {notes}")
    _, notes = render({**BASE, "planner": {"replicas": 4, "workers": 4}})
    expect("4 of them stand by without work" in notes, f"16 threads: notes {notes}")


def check_all():
    objects, notes, settings = check("all", ALL)
    expect("1 of them stand by without work" in notes, f"all: notes {notes}")
    expect("NO_MATCH" not in notes, f"all: notes {notes}")
    expect(settings["planner"]["topics.events"] == "flights, goals", "all: topics.events")
    expect(settings["planner"]["policy"] == "/etc/rouse/settings/policy.yaml", "all: policy")
    expect(settings["planner"]["kafka.properties"] == "client.rack=a", "all: kafka.properties")
    job = objects["Job", "blue-rouse-topics-1"]["spec"]["template"]["spec"]
    for _, template in templates(objects.values()):
        secret = [v["secret"] for v in template["spec"]["volumes"] if v["name"] == "kafka"]
        expect(secret == [{"secretName": "rouse-kafka", "defaultMode": 0o440}], f"all: secret {secret}")
        expect(template["spec"]["imagePullSecrets"] == [{"name": "pull"}], "all: imagePullSecrets")
    expect(job["containers"][0]["env"][0]["name"] == "ROUSE_KAFKA_PROPERTIES_FILE", "all: the job has the secret")
    expect(job["containers"][0]["image"] == "registry.example.com/rouse:1.2.3", "all: image")
    policy = objects["NetworkPolicy", "blue-rouse"]["spec"]
    audit = {"app.kubernetes.io/name": "rouse", "app.kubernetes.io/instance": "blue", "app.kubernetes.io/component": "audit"}
    scrapers = [{"podSelector": {}}, {"podSelector": {"matchLabels": audit}}]
    expect(policy["ingress"][0]["from"] == scrapers, f"all: scrapers {policy['ingress']}")
    expect([p["port"] for rule in policy["egress"] for p in rule["ports"]] == [53, 53, 9095, 4318, 443], f"all: egress {policy}")
    check_gateway(objects, settings["gateway"])
    check_console(objects, settings["console"])
    check_monitor(objects)
    check_observability(objects.values())


def check_gateway(objects, settings):
    pods = objects["Deployment", "blue-rouse-gateway"]["spec"]
    expect(pods["replicas"] == 3, "all: replicas of the gateway")
    expect(settings["gateway.listen"] == "0.0.0.0:8081", f"all: gateway.listen {settings}")
    expect(settings["gateway.topic"] == "goals", f"all: gateway.topic {settings}")
    container, volumes = pods["template"]["spec"]["containers"][0], pods["template"]["spec"]["volumes"]
    secret = next(v["secret"] for v in volumes if v["name"] == "keys")
    mount = next(m for m in container["volumeMounts"] if m["name"] == "keys")
    expect(secret == {"secretName": "rouse-keys", "defaultMode": 0o440}, f"all: keys {secret}")
    expect(mount["readOnly"], f"all: the keys can be written: {mount}")
    keys = next(v["value"] for v in container["env"] if v["name"] == "ROUSE_GATEWAY_KEYS")
    expect(keys == mount["mountPath"] + "/keys.json", f"all: gateway.keys {keys} is not in {mount}")
    check_tls(container, volumes, "gateway-tls", settings, "gateway")
    labels = pods["template"]["metadata"]["labels"].items()
    view = settings["gateway.devicesView"]
    mount = next((m for m in container["volumeMounts"] if view.startswith(m["mountPath"] + "/")), None)
    expect(mount and not mount.get("readOnly"), f"all: gateway.devicesView {view} is in no volume that can be written")
    volume = next((v for v in pods["template"]["spec"]["volumes"] if mount and v["name"] == mount["name"]), {})
    expect(volume.get("emptyDir") == {"sizeLimit": "4Gi"}, f"all: the volume of the view {volume}")
    service = objects["Service", "blue-rouse-gateway"]["spec"]
    expect(service["selector"].items() <= labels, f"all: the service selects other pods: {service}")
    expect(service["ports"] == [{"name": "gateway", "port": 8081, "targetPort": "gateway"}], f"all: {service}")
    expect({"name": "gateway", "containerPort": 8081} in container["ports"], f"all: ports {container['ports']}")
    policy = objects["NetworkPolicy", "blue-rouse-gateway"]["spec"]
    expect(policy["podSelector"]["matchLabels"].items() <= labels, f"all: the policy selects other pods: {policy}")
    allowed = [{"ports": [{"port": 8081, "protocol": "TCP"}], "from": [{"namespaceSelector": {}}]}]
    expect(policy["policyTypes"] == ["Ingress"] and policy["ingress"] == allowed, f"all: clients {policy}")
    other = [t for o, t in templates(objects.values()) if o["metadata"]["name"] != "blue-rouse-gateway"]
    expect("rouse-keys" not in yaml.safe_dump(other), "all: other roles see the keys")


def check_tls(container, volumes, secret, settings, role):
    """The certificate and its key are in a Secret, which only the container of the role sees."""
    for setting, name in (("tlsCertificateFile", "tls.crt"), ("tlsKeyFile", "tls.key")):
        path = settings[f"{role}.{setting}"]
        mount = next((m for m in container["volumeMounts"] if path == f"{m['mountPath']}/{name}"), {})
        found = next((v["secret"] for v in volumes if v["name"] == mount.get("name")), None)
        expect(found == {"secretName": secret, "defaultMode": 0o440}, f"all: {role}.{setting} {path}: {found}")


def check_console(objects, settings):
    """The console is a container beside the audit's, on the volume with the store."""
    pod = objects["StatefulSet", "blue-rouse-audit"]["spec"]["template"]
    audit, container = pod["spec"]["containers"]
    expect([audit["name"], container["name"]] == ["rouse", "console"], "all: the containers of the audit's pod")
    expect(settings["console.listen"] == "0.0.0.0:8091", f"all: console.listen {settings}")
    expect(settings["http.listen"] == "0.0.0.0:9466", f"all: http.listen of the console {settings}")
    expect(settings["instance"] == "$(POD_NAME)-console", f"all: instance of the console {settings}")
    names = [v["name"] for v in container["env"]]
    expect(names.index("POD_NAME") < names.index("ROUSE_INSTANCE"), "all: a variable is used before it is set")

    def mount(container, path):
        return next((m for m in container["volumeMounts"] if path.startswith(m["mountPath"] + "/")), None)

    store = mount(container, settings["audit.store"])
    expect(store and store == mount(audit, "/var/lib/rouse/audit.sqlite"), f"all: the store of the console is in {store}")
    expect(store and not store.get("readOnly"), "all: the console cannot write its access records")
    view = settings["console.devicesView"]
    expect(store and mount(container, view) == store and view != settings["audit.store"], f"all: console.devicesView {view}")
    secrets = {v["name"]: v["secret"] for v in pod["spec"]["volumes"] if "secret" in v}
    properties = next(v["value"] for v in container["env"] if v["name"] == "ROUSE_KAFKA_PROPERTIES_FILE")
    for path, secret in ((settings["console.keys"], "console-keys"), (properties, "console-kafka")):
        volume = mount(container, path)
        expect(volume and secrets[volume["name"]] == {"secretName": secret, "defaultMode": 0o440}, f"all: {path}: {volume}")
    check_tls(container, pod["spec"]["volumes"], "console-tls", settings, "console")
    expect("tls" not in [v["name"] for v in pod["spec"]["volumes"]], "all: the audit's pod has the gateway's certificate")
    expect(mount(audit, settings["console.keys"]) is None, "all: the audit sees the console's keys")
    service = objects["Service", "blue-rouse-console"]["spec"]
    labels = pod["metadata"]["labels"].items()
    expect(service["selector"].items() <= labels, f"all: the service selects other pods: {service}")
    expect(service["publishNotReadyAddresses"], "all: nobody reaches the console while the audit waits for Kafka")
    given = {p["name"]: p["containerPort"] for p in container["ports"]}
    expect([given[p["targetPort"]] for p in service["ports"]] == [p["port"] for p in service["ports"]] == [8091, 9466], f"all: {service}")
    policy = objects["NetworkPolicy", "blue-rouse-console"]["spec"]
    expect(policy["podSelector"]["matchLabels"].items() <= labels, f"all: the policy selects other pods: {policy}")
    allowed = [
        {"ports": [{"port": 8091, "protocol": "TCP"}], "from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]},
        {"ports": [{"port": 9466, "protocol": "TCP"}], "from": [{"podSelector": {}}]},
    ]
    expect(policy["policyTypes"] == ["Ingress"] and policy["ingress"] == allowed, f"all: clients of the console {policy}")
    # The console asks the pods of all roles, which the Service without an address of its own names, for their status.
    service = objects["Service", "blue-rouse"]["spec"]
    expect(service["clusterIP"] == "None", f"all: the Service of all pods has an address of its own: {service}")
    http = service["ports"][0]["port"]
    expect(settings["console.processes"] == f"blue-rouse:{http}", f"all: the console asks {settings['console.processes']}")
    policy = objects["NetworkPolicy", "blue-rouse-status"]["spec"]
    expect(policy["podSelector"]["matchLabels"].items() <= labels, f"all: the policy selects other pods: {policy}")
    pods = [{"podSelector": {"matchLabels": service["selector"]}}]
    expect(policy["egress"] == [{"ports": [{"port": http, "protocol": "TCP"}], "to": pods}], f"all: status {policy}")


def check_tokens():
    """Without a key file the gateway and the console take tokens, of an issuer that the network policy lets them reach."""
    objects, notes, settings = check("tokens", TOKENS)
    expect("a token of https://login.example.com/realms/airline\n" in notes, f"tokens: notes {notes}")
    expect("for rouse are taken" in notes, f"tokens: notes {notes}")
    for role in ("gateway", "console"):
        found = {name: settings[role][f"oidc.{name}"] for name in ("issuer", "audience", "keysUrl", "keysFile", "rolesClaim")}
        wanted = {**TOKENS["oidc"], "keysFile": "-"}
        expect(found == {name: wanted[name] for name in found}, f"tokens: {role}: {found}")
        expect(settings[role][f"{role}.keys"] == "-", f"tokens: {role}.keys {settings[role]}")
        path = settings[role]["oidc.grantsFile"]
        expect(oidc_volume(objects, role, path) == {"configMap": {"name": "rouse-grants"}}, f"tokens: {role}: {path}")
    for role in ("planner", "intake", "audit"):
        expect(settings[role]["oidc.issuer"] == "-", f"tokens: {role} has {settings[role]['oidc.issuer']}")
    policy = objects["NetworkPolicy", "blue-rouse-oidc"]["spec"]
    expect(policy["egress"] == [{"ports": [{"port": 8443, "protocol": "TCP"}]}], f"tokens: egress {policy}")
    wanted = {name for (kind, name), o in objects.items() if kind in ("Deployment", "StatefulSet") and selects(policy, o)}
    expect(wanted == {"blue-rouse-gateway", "blue-rouse-audit"}, f"tokens: the policy selects {wanted}")
    peers = {**TOKENS, "networkPolicy": {"issuers": [{"ipBlock": {"cidr": "10.1.0.0/16"}}]}, "console": {}}
    policy = next(o["spec"] for o in render(peers)[0] if o["metadata"]["name"] == "blue-rouse-oidc")
    expect(policy["egress"][0]["to"] == [{"ipBlock": {"cidr": "10.1.0.0/16"}}], f"tokens: {policy}")
    expect(policy["podSelector"]["matchExpressions"][0]["values"] == ["gateway"], f"tokens: without a console {policy}")
    files = {**ALL, "oidc": {**OIDC, "keysSecret": "issuer-keys", "grantsSecret": "rouse-grants", "clockSkewSeconds": 5}}
    objects, _, settings = check("token files", files)
    expect(("NetworkPolicy", "blue-rouse-oidc") not in objects, "token files: nobody is asked for keys")
    for role in ("gateway", "console"):
        expect(settings[role]["oidc.clockSkewSeconds"] == "5", f"token files: {settings[role]}")
        expect(settings[role][f"{role}.keys"].endswith("/keys.json"), f"token files: {role} has no keys beside")
        for setting, secret, name in (("keysFile", "issuer-keys", "jwks.json"), ("grantsFile", "rouse-grants", "grants.json")):
            path = settings[role][f"oidc.{setting}"]
            volume = {"secret": {"secretName": secret, "defaultMode": 0o440}}
            expect(path.endswith("/" + name) and oidc_volume(objects, role, path) == volume, f"token files: {role}: {path}")


def oidc_volume(objects, role, path):
    """The source of the volume in which the container of a role has a file."""
    kind, name = ("Deployment", "gateway") if role == "gateway" else ("StatefulSet", "audit")
    spec = objects[kind, f"blue-rouse-{name}"]["spec"]["template"]["spec"]
    container = next(c for c in spec["containers"] if {"name": "ROUSE_ROLES", "value": role} in c["env"])
    mount = next((m for m in container["volumeMounts"] if path.startswith(m["mountPath"] + "/")), {})
    volume = next((v for v in spec["volumes"] if v["name"] == mount.get("name")), {"name": None})
    return {k: v for k, v in volume.items() if k != "name"}


def selects(policy, o):
    """Whether the selector of a policy holds for the pods of an object."""
    labels, selector = o["spec"]["template"]["metadata"]["labels"], policy["podSelector"]
    expressions = selector.get("matchExpressions", [])
    return selector["matchLabels"].items() <= labels.items() and all(labels[e["key"]] in e["values"] for e in expressions)


def check_monitor(objects):
    """The alerts ask for job="rouse", so each service with metrics must have this value for the label of the job."""
    monitor = objects["ServiceMonitor", "blue-rouse"]["spec"]
    port, wanted = monitor["endpoints"][0]["port"], monitor["selector"]["matchLabels"].items()
    services = [o for o in objects.values() if o["kind"] == "Service" and wanted <= o["metadata"]["labels"].items()]
    services = [s for s in services if port in [p["name"] for p in s["spec"]["ports"]]]
    jobs = [s["metadata"]["labels"].get(monitor.get("jobLabel")) for s in services]
    expect(jobs == ["rouse", "rouse"], f"all: jobs {jobs}")
    for o, template in templates([o for o in objects.values() if o["kind"] != "Job"]):
        labels = template["metadata"]["labels"].items()
        own = [s["spec"]["ports"] for s in services if s["spec"]["selector"].items() <= labels]
        targets = [p["targetPort"] for ports in own for p in ports if p["name"] == port]
        for container in template["spec"]["containers"]:
            asked = container["ports"][0]["name"] in targets
            expect(asked, f"all: nobody reads the metrics of {container['name']} of {o['metadata']['name']}")


def check_tags():
    """Upgrades role by role, as the page Deploying.md does."""
    gateway = {"enabled": True, "keysSecret": "rouse-keys"}

    def pods(tag, **own):
        values = {**BASE, "image": {"tag": tag}, "gateway": {**gateway, **own.pop("gateway", {})}, **own}
        return {o["metadata"]["name"].removeprefix("blue-rouse-"): t for o, t in templates(render(values)[0])}

    old, new = pods("1"), pods("2")
    for role in ("planner", "intake", "audit", "gateway"):
        one = pods("1", **{role: {"image": {"tag": "2"}}})
        expect(one == {**old, role: new[role]}, f"tags: {role}.image.tag changes {[r for r in old if one[r] != old[r]]}")
        expect(one[role]["spec"]["containers"][0]["image"] == "rouse:2", f"tags: the image of {role}")
        expect(one[role]["metadata"]["labels"]["app.kubernetes.io/version"] == "2", f"tags: the version of {role}")


def check_closed():
    """Nobody reaches a server whose clients are not named; the console alone asks the pods of all roles."""
    servers = {"gateway": {"enabled": True, "keysSecret": "k"}, "console": {"enabled": True, "keysSecret": "k"}}
    objects, notes, _ = check("closed", {**BASE, **servers, "serviceMonitor": {"enabled": True}})
    for name in ("blue-rouse-gateway", "blue-rouse-console"):
        policy = objects["NetworkPolicy", name]["spec"]
        expect(policy["ingress"] == [] and policy["policyTypes"] == ["Ingress"], f"closed: {name} {policy}")
    (rule,) = objects["NetworkPolicy", "blue-rouse"]["spec"]["ingress"]
    component = rule["from"][0]["podSelector"]["matchLabels"]["app.kubernetes.io/component"]
    expect(len(rule["from"]) == 1 and component == "audit", f"closed: {rule}")
    for value in ("scrapers", "clients", "consoleClients"):
        expect(f"networkPolicy.{value}" in notes, f"closed: notes {notes}")


def check_collectors():
    """The port of the collector is that of its address, or that of its scheme."""
    for host, port in (("http://c:4318/v1", 4318), ("http://c/v1:9", 80), ("https://c/v1", 443), ("http://[::1]:70/", 70)):
        objects, _ = render({**BASE, "settings": {"traces": {"endpoint": host}}})
        egress = next(o for o in objects if o["kind"] == "NetworkPolicy")["spec"]["egress"]
        expect(egress[2:] == [{"ports": [{"port": port, "protocol": "TCP"}]}], f"{host}: egress {egress}")


def check_small():
    objects, _, settings = check("small", SMALL)
    expect(set(settings) == {"intake", "planner"}, f"small: roles {set(settings)}")
    expect(not [k for k in objects if k[0] in ("NetworkPolicy", "ServiceMonitor", "Job")], f"small: {list(objects)}")


def check_refused():
    for words, values in REFUSED.items():
        try:
            render(values)
            expect(False, f"accepted: {values}")
        except helm_python.HelmError as error:
            expect(words in str(error), f"{values}: {error}")


for step in (check_base, check_all, check_tokens, check_tags, check_closed, check_collectors, check_small, check_refused):
    step()
found = helm_python.lint(chart, BASE)
problems += [str(m) for m in found["messages"] if m["severity"] > 1]
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
