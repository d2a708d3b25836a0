; Inno Setup script: `python packaging/build.py app` first, then `iscc /DVersion=0.1.0 packaging\windows\installer.iss`
; (`python packaging/build.py installer` does both). Installs for the current user; no administrator is needed.
#ifndef Version
  #define Version "0.1.0"
#endif

[Setup]
AppId={{5E1B3B0C-6C0B-4A5E-9C43-6B1B0F7A9D11}
AppName=Defect Workbench
AppVersion={#Version}
AppPublisher=Defect Workbench
DefaultDirName={autopf}\Defect Workbench
DefaultGroupName=Defect Workbench
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
MinVersion=10.0.17763
LicenseFile=..\..\LICENSE
SetupIconFile=..\..\build\defect-workbench.ico
UninstallDisplayIcon={app}\DefectWorkbench.exe
OutputDir=..\..\dist
OutputBaseFilename=DefectWorkbench-{#Version}-setup
#ifdef Divided
; More than one file can hold, as with the GPU build: the files *.bin belong beside the installer.
DiskSpanning=yes
DiskSliceSize=2100000000
#endif
Compression=lzma2/fast
SolidCompression=yes
ChangesEnvironment=yes
WizardStyle=modern

[Languages]
Name: "en"; MessagesFile: "compiler:Default.isl"
#if FileExists(CompilerPath + "Languages\ChineseSimplified.isl")
Name: "zh"; MessagesFile: "compiler:Languages\ChineseSimplified.isl"
#endif

[Tasks]
Name: "desktopicon"; Description: "{cm:CreateDesktopIcon}"; Flags: unchecked
Name: "path"; Description: "Add the command ""workbench"" to PATH"; Flags: unchecked

[InstallDelete]
; Files that an older version had and this one has not would be imported, too.
Type: filesandordirs; Name: "{app}\_internal"

[Files]
Source: "..\..\dist\DefectWorkbench\*"; DestDir: "{app}"; Flags: ignoreversion recursesubdirs createallsubdirs

[Icons]
Name: "{group}\Defect Workbench"; Filename: "{app}\DefectWorkbench.exe"; AppUserModelID: "DefectWorkbench.DefectWorkbench"
Name: "{autodesktop}\Defect Workbench"; Filename: "{app}\DefectWorkbench.exe"; AppUserModelID: "DefectWorkbench.DefectWorkbench"; Tasks: desktopicon

[Registry]
; "Open with Defect Workbench" in the context menu of folders.
Root: HKA; Subkey: "Software\Classes\Directory\shell\DefectWorkbench"; ValueType: string; ValueData: "Open with Defect Workbench"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\Directory\shell\DefectWorkbench"; ValueType: string; ValueName: "Icon"; ValueData: "{app}\DefectWorkbench.exe"
Root: HKA; Subkey: "Software\Classes\Directory\shell\DefectWorkbench\command"; ValueType: string; ValueData: """{app}\DefectWorkbench.exe"" ""%1"""
Root: HKCU; Subkey: "Environment"; ValueType: expandsz; ValueName: "Path"; ValueData: "{olddata};{app}"; Tasks: path; Check: NotInPath

[Run]
Filename: "{app}\DefectWorkbench.exe"; Description: "{cm:LaunchProgram,Defect Workbench}"; Flags: nowait postinstall skipifsilent

[Code]
function NotInPath: Boolean;
var
  Path: string;
begin
  if not RegQueryStringValue(HKCU, 'Environment', 'Path', Path) then
    Path := '';
  Result := Pos(';' + Uppercase(ExpandConstant('{app}')) + ';', ';' + Uppercase(Path) + ';') = 0;
end;

procedure RemoveFromPath;
var
  Path, Entry: string;
  Place: Integer;
begin
  if not RegQueryStringValue(HKCU, 'Environment', 'Path', Path) then
    Exit;
  Entry := ';' + ExpandConstant('{app}');
  Place := Pos(Uppercase(Entry) + ';', Uppercase(';' + Path + ';'));
  if Place = 0 then
    Exit;
  Path := ';' + Path;
  Delete(Path, Place, Length(Entry));
  if Copy(Path, 1, 1) = ';' then
    Delete(Path, 1, 1);
  RegWriteExpandStringValue(HKCU, 'Environment', 'Path', Path);
end;

procedure CurUninstallStepChanged(CurUninstallStep: TUninstallStep);
begin
  if CurUninstallStep = usUninstall then
    RemoveFromPath;
end;
