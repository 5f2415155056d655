#!/usr/bin/env bash
# Makes a container image of Rouse, without a registry and without an engine: the program, the shared libraries that it needs, time
# zones and CA certificates, and nothing else; no shell. It installs what is missing to do so, and takes a minute, or about ten
# when it has to build the program.
#
#   deploy/image.sh                          # builds the program with Swift's libraries inside, and writes rouse-image.tar
#   deploy/image.sh --program .build/release/rouse --output /tmp/rouse.tar --tag registry.example.com/rouse:0.1.0
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=deploy/setup.sh
. deploy/setup.sh

usage="usage: deploy/image.sh [--program FILE] [--output FILE] [--tag NAME:TAG]"

help() {
  cat <<HELP
$usage

Writes a container image as an archive that docker, podman and containerd load: docker load -i rouse-image.tar

  --program FILE  a built program; without it, one is built into .build/image
  --output FILE   the archive; rouse-image.tar without it
  --tag NAME:TAG  the image's name; rouse:VERSION without it

The image runs as user 10001 and writes to /var/lib/rouse alone, so its root can be read-only. Its entry point is rouse, and its
command is run --config /etc/rouse/rouse.yaml. Exits 0 when the program in the image has said its version.
HELP
}

wrong() {
  echo "image.sh: $*; $usage" >&2
  exit 2
}

program=
output=rouse-image.tar
tag=
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) help && exit 0 ;;
    --program | --output | --tag)
      [ -n "${2:-}" ] || wrong "$1: names nothing"
      declare "${1#--}=$2"
      shift 2
      ;;
    *) wrong "$1: unknown option" ;;
  esac
done

[ "$(id -u)" = 0 ] || setup_fail "files of an image have several owners: run it as root, or as: buildah unshare deploy/image.sh"
if [ -z "$program" ]; then
  setup buildah
  # A folder of its own, because other builds of the project use Swift's shared libraries.
  build=(swift build -c release --product rouse --static-swift-stdlib --scratch-path .build/image)
  "${build[@]}" >&2
  program=$("${build[@]}" --show-bin-path)/rouse
else
  [ -x "$program" ] || setup_fail "$program: there is no such program"
  setup_install buildah ca-certificates tzdata
fi
version=$("$program" --version)
tag=${tag:-rouse:$version}
# The user and group of the image. Clusters that check for a non-root user need a number.
user=10001

work=$(mktemp -d)
# A store of its own: the images of the machine are not touched. `vfs` needs no support of the kernel.
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
buildah() { command buildah --root "$work/store" --runroot "$work/run" "$@"; }
trap 'buildah rm --all >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

# copy FILE: copies a file, links followed, to the same path in the image.
root=$work/root
copy() { install -D --mode="$(stat -L -c %a "$1")" "$1" "$root${2:-$1}"; }

mkdir -p "$root"/{etc/rouse,tmp,usr/bin,usr/lib/rouse,usr/share/doc/rouse,var/lib}
install --strip "$program" "$root/usr/lib/rouse/rouse"
resources=$(dirname "$program")/rouse_rouse.resources
[ ! -d "$resources" ] || cp -RL "$resources" "$root/usr/lib/rouse/"
ln -s ../lib/rouse/rouse "$root/usr/bin/rouse"
copy LICENSE /usr/share/doc/rouse/LICENSE

# The loader and the libraries, all in the loader's own folder, and the licences of the packages that they come from.
loader=$(ldd "$program" | awk '$1 ~ /^\/.*ld-linux/ { print $1 }')
libraries=$(ldd "$program" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }')
folder=$(dirname "$(ldd "$program" | awk '$1 == "libc.so.6" { print $3 }')")
if [ -z "$loader" ] || [ -z "$folder" ]; then setup_fail "ldd $program names no loader and no libc.so.6"; fi
copy "$loader"
for library in $libraries; do
  copy "$library" "$folder/$(basename "$library")"
  package=$(dpkg-query -S "$(realpath "$library")" "$library" 2>/dev/null | head -n 1 | cut -d: -f1 || true)
  if [ -n "$package" ] && [ ! -e "$root/usr/share/doc/$package" ]; then
    copy "/usr/share/doc/$package/copyright"
  fi
done

# TLS, time zones, names.
copy /etc/ssl/certs/ca-certificates.crt
(cd / && tar -c --exclude=right --exclude=posix usr/share/zoneinfo) | tar -x -C "$root"
printf 'hosts: files dns\n' >"$root/etc/nsswitch.conf"
printf 'root:x:0:0::/:/nologin\nrouse:x:%s:%s::/var/lib/rouse:/nologin\n' "$user" "$user" >"$root/etc/passwd"
printf 'root:x:0:\nrouse:x:%s:\n' "$user" >"$root/etc/group"
chmod 1777 "$root/tmp"

install -d --owner="$user" --group="$user" --mode=0750 "$root/var/lib/rouse"

container=$(buildah from scratch)
mounted=$(buildah mount "$container")
cp -a "$root/." "$mounted/"
buildah umount "$container" >/dev/null
buildah config --user "$user:$user" --workingdir /var/lib/rouse --port 9464/tcp --port 8080/tcp --port 8090/tcp \
  --entrypoint '["/usr/bin/rouse"]' --cmd 'run --config /etc/rouse/rouse.yaml' \
  --label "org.opencontainers.image.title=rouse" --label "org.opencontainers.image.version=$version" \
  --label "org.opencontainers.image.licenses=Apache-2.0" "$container"

# The program runs inside before anybody gets the image.
answer=$(buildah run "$container" -- /usr/bin/rouse --version)
[ "$answer" = "$version" ] || setup_fail "rouse --version in the image printed '$answer', expected '$version'"

# The time of the commit, so that the image does not change without a cause.
when=$(git log -1 --format=%ct 2>/dev/null || date +%s)
buildah commit --quiet --timestamp "$when" "$container" "$tag" >/dev/null
rm -f "$output"
buildah push --quiet "$tag" "docker-archive:$output:$tag"
printf '%s: %s, %s files, %s; rouse %s\n' "$output" "$tag" "$(find "$root" -type f | wc -l)" \
  "$(du --apparent-size -sh "$root" | cut -f1)" "$answer"
