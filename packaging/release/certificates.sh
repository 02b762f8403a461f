#!/usr/bin/env bash
# Brings the signing certificates to where `packaging/build.py` finds them, where the secrets are set; says so where not.
# In a workflow what the later steps need is handed on through GITHUB_ENV.
set -euo pipefail

hand_on() {
  echo "$1=$2" >>"${GITHUB_ENV:?This runs in a workflow.}"
}

windows() {
  if [ -z "${WINDOWS_CERTIFICATE:-}" ]; then
    echo "WINDOWS_CERTIFICATE is not set: the setup program will not be signed."
    return
  fi
  base64 --decode <<<"$WINDOWS_CERTIFICATE" >certificate.pfx
  # shellcheck disable=SC2016  # PowerShell's variables
  thumbprint=$(powershell -NoProfile -Command '
    $secret = ConvertTo-SecureString $Env:WINDOWS_CERTIFICATE_PASSWORD -AsPlainText -Force
    (Import-PfxCertificate certificate.pfx Cert:\CurrentUser\My -Password $secret).Thumbprint')
  rm certificate.pfx
  hand_on LOQUAT_WINDOWS_CERTIFICATE "$(tr -d '\r\n' <<<"$thumbprint")"
}

macos() {
  if [ -z "${MACOS_CERTIFICATE:-}" ]; then
    echo "MACOS_CERTIFICATE is not set: the app will be signed ad hoc, and not notarised."
    return
  fi
  keychain="$RUNNER_TEMP/loquat.keychain-db"
  secret=$(openssl rand -hex 16)
  security create-keychain -p "$secret" "$keychain"
  security set-keychain-settings -lut 7200 "$keychain"
  security unlock-keychain -p "$secret" "$keychain"
  base64 --decode <<<"$MACOS_CERTIFICATE" >"$RUNNER_TEMP/certificate.p12"
  security import "$RUNNER_TEMP/certificate.p12" -k "$keychain" -P "$MACOS_CERTIFICATE_PASSWORD" -T /usr/bin/codesign
  rm "$RUNNER_TEMP/certificate.p12"
  security set-key-partition-list -S apple-tool:,apple: -k "$secret" "$keychain" >/dev/null
  security list-keychains -d user -s "$keychain" login.keychain-db
  identity=$(security find-identity -v -p codesigning "$keychain" | sed -n 's/.*"\(Developer ID Application[^"]*\)".*/\1/p' | head -n 1)
  if [ -z "$identity" ]; then
    echo "MACOS_CERTIFICATE holds no Developer ID Application certificate." >&2
    exit 1
  fi
  hand_on LOQUAT_MACOS_IDENTITY "$identity"
  hand_on LOQUAT_MACOS_KEYCHAIN "$keychain"
  if [ -n "${MACOS_NOTARY_ID:-}" ]; then
    xcrun notarytool store-credentials loquat --apple-id "$MACOS_NOTARY_ID" --team-id "$MACOS_NOTARY_TEAM" \
      --password "$MACOS_NOTARY_PASSWORD" --keychain "$keychain"
    hand_on LOQUAT_MACOS_NOTARY_PROFILE loquat
  fi
}

case "$(uname -s)" in
  MINGW* | MSYS* | CYGWIN*) windows ;;
  Darwin) macos ;;
  *) echo "Packages for $(uname -s) are not signed; their checksums are." ;;
esac
