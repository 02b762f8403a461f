; Inno Setup's recipe for Loquat: for one person, without an administrator, over an older version if there is one.
; `python packaging/build.py --target inno` runs it; by hand, with everything after /D filled in:
;   ISCC /DVersion=0.1.0 /DProgram=build\program\loquat /DIcons=build\icons /DOut=dist /DHomepage=https://... /DVariant= loquat.iss

#ifndef Version
  #error Version, Program, Icons, Out and Homepage must be given with /D; packaging/build.py does.
#endif

#define Name "Loquat"
#define Program_File "loquat.exe"
#define Terminal_File "loquat-cli.exe"

[Setup]
; The same for every version: by it an upgrade finds what it replaces.
AppId={{5C7B2E0A-93D1-4B6E-8E0F-6A2D3C1F9B47}
AppName={#Name}
AppVersion={#Version}
AppVerName={#Name} {#Version}
AppPublisher=The Loquat project
AppPublisherURL={#Homepage}
AppSupportURL={#Homepage}
VersionInfoTextVersion={#Version}
PrivilegesRequired=lowest
DefaultDirName={autopf}\{#Name}
DisableProgramGroupPage=yes
DisableDirPage=auto
LicenseFile=..\..\LICENSE
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
MinVersion=10.0.17763
OutputDir={#Out}
OutputBaseFilename=loquat-{#Version}-windows-x64{#Variant}-setup
SetupIconFile={#Icons}\loquat.ico
UninstallDisplayIcon={app}\{#Program_File}
UninstallDisplayName={#Name}
WizardStyle=modern
Compression=lzma2/normal
SolidCompression=yes
LZMAUseSeparateProcess=yes
LZMANumBlockThreads=2
; A program that runs is asked to close; it saves everything when it does.
CloseApplications=yes
RestartApplications=no
ChangesEnvironment=yes
TimeStampsInUTC=yes

[Languages]
Name: "english"; MessagesFile: "compiler:Default.isl"

[CustomMessages]
english.DesktopIcon=Put an icon on the &desktop
english.OnPath=Make the command &loquat-cli known to terminals
english.StartNow=Start Loquat
english.DeleteData=Delete your chats, models and settings too? They cannot be brought back. Choose No to keep them in %1.

[Tasks]
Name: "desktopicon"; Description: "{cm:DesktopIcon}"; Flags: unchecked
Name: "onpath"; Description: "{cm:OnPath}"; Flags: unchecked

[InstallDelete]
; An upgrade leaves nothing of the older version behind. The portable data folder is not touched.
Type: filesandordirs; Name: "{app}\_internal"
Type: files; Name: "{app}\cuda.json"

[UninstallDelete]
; torch for NVIDIA GPUs is a part of the program that it fetched itself (engine/cuda_pack.py), not the person's data: it
; goes with the program, from the usual data folder and from the portable one.
Type: filesandordirs; Name: "{localappdata}\loquat\torch-cuda"
Type: filesandordirs; Name: "{localappdata}\loquat\torch-cuda-downloads"
Type: filesandordirs; Name: "{localappdata}\loquat\torch-cuda-unfinished"
Type: filesandordirs; Name: "{app}\loquat-data\data\torch-cuda"
Type: filesandordirs; Name: "{app}\loquat-data\data\torch-cuda-downloads"
Type: filesandordirs; Name: "{app}\loquat-data\data\torch-cuda-unfinished"

[Files]
Source: "{#Program}\*"; DestDir: "{app}"; Flags: ignoreversion recursesubdirs createallsubdirs

[Icons]
Name: "{autoprograms}\{#Name}"; Filename: "{app}\{#Program_File}"
Name: "{autodesktop}\{#Name}"; Filename: "{app}\{#Program_File}"; Tasks: desktopicon

[Registry]
Root: HKA; Subkey: "Environment"; ValueType: expandsz; ValueName: "Path"; ValueData: "{code:PathWith|{app}}"; Tasks: onpath; Check: IsNotOnPath(ExpandConstant('{app}'))

[Run]
Filename: "{app}\{#Program_File}"; Description: "{cm:StartNow}"; Flags: nowait postinstall skipifsilent

[Code]
const
  EnvironmentKey = 'Environment';

function IsNotOnPath(Folder: string): Boolean;
var
  Known: string;
begin
  if not RegQueryStringValue(HKEY_CURRENT_USER, EnvironmentKey, 'Path', Known) then
    Known := '';
  Result := Pos(';' + Uppercase(Folder) + ';', ';' + Uppercase(Known) + ';') = 0;
end;

function PathWith(Folder: string): string;
begin
  if not RegQueryStringValue(HKEY_CURRENT_USER, EnvironmentKey, 'Path', Result) then
    Result := '';
  if (Result <> '') and (Copy(Result, Length(Result), 1) <> ';') then
    Result := Result + ';';
  Result := Result + Folder;
end;

procedure LeavePath(Folder: string);
var
  Known, Around: string;
  At: Integer;
begin
  if not RegQueryStringValue(HKEY_CURRENT_USER, EnvironmentKey, 'Path', Known) then
    Exit;
  Around := ';' + Known + ';';
  At := Pos(';' + Uppercase(Folder) + ';', Uppercase(Around));
  if At = 0 then
    Exit;
  Delete(Around, At, Length(Folder) + 1);
  RegWriteExpandStringValue(HKEY_CURRENT_USER, EnvironmentKey, 'Path', Copy(Around, 2, Length(Around) - 2));
end;

procedure CurUninstallStepChanged(Step: TUninstallStep);
var
  Data: string;
begin
  if Step = usUninstall then
    LeavePath(ExpandConstant('{app}'));
  if Step <> usPostUninstall then
    Exit;
  // Chats and models stay, unless a person says otherwise; a silent uninstallation never deletes them.
  Data := ExpandConstant('{localappdata}\loquat');
  if UninstallSilent or not DirExists(Data) then
    Exit;
  if MsgBox(FmtMessage(CustomMessage('DeleteData'), [Data]), mbConfirmation, MB_YESNO or MB_DEFBUTTON2) = IDYES then
    DelTree(Data, True, True, True);
end;
